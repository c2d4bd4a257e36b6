package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.member.ClusterWork;
import io.millrace.examples.cluster.FeedExample;
import io.millrace.examples.cluster.FilesExample;
import io.millrace.examples.cluster.ListingExample;
import io.millrace.examples.cluster.PortExample;
import io.millrace.examples.cluster.TopicExample;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** An example program for members, included in Millrace. */
enum Example {
  /** Windowed work: the files of a folder, each hashed once. */
  FILES,
  /** Work that cannot be divided: one member listens on a port. */
  PORT,
  /** Supervised work: the files of a folder, each followed as it grows. */
  TOPIC,
  /** Remote work: the files of a folder, each hashed by a lambda that the leader sends. */
  LISTING,
  /** Remote work: growing files, each followed by a lambda that runs until its member leaves. */
  FEED;

  /**
   * What is needed to create the work of a member.
   *
   * @param documents the documents that all members share
   * @param remote the secret and the classes of the member, for remote work
   */
  record Context(VersionedDocuments documents, RemoteCode remote) {}

  /**
   * The example that {@code --example} names.
   *
   * @throws UsageException if there is no such example
   */
  static Example of(String name) {
    return Arrays.stream(values())
        .filter(example -> example.word().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new UsageException(
                "there is no example '%s'; the examples are: %s"
                    .formatted(
                        name,
                        Arrays.stream(values())
                            .map(Example::word)
                            .collect(Collectors.joining(", ")))));
  }

  private String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether members run code that their leader sends them; then they need a secret. */
  boolean isRemote() {
    return this == LISTING || this == FEED;
  }

  /** Whether its plan contains a minimum time for each step. */
  boolean isPaced() {
    return this == FILES || this == LISTING;
  }

  /**
   * The work that a plan names.
   *
   * @throws UsageException if this version does not support the plan
   */
  ClusterWork clusterWork(Plan plan, Context means) {
    return switch (this) {
      case FILES ->
          ClusterWork.of(
              new FilesExample(means.documents(), plan.input(), plan.output(), plan.pace()));
      case PORT -> ClusterWork.of(new PortExample(plan.port(), plan.output()), means.documents());
      case TOPIC ->
          ClusterWork.of(new TopicExample(means.documents(), plan.input(), plan.output()));
      case LISTING ->
          means.remote().clusterWork(new ListingExample(plan.input(), plan.output(), plan.pace()));
      case FEED -> means.remote().clusterWork(new FeedExample(plan.input(), plan.output()));
    };
  }
}
