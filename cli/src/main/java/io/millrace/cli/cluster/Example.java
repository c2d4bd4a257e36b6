package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.member.Duty;
import io.millrace.examples.cluster.FeedExample;
import io.millrace.examples.cluster.FilesExample;
import io.millrace.examples.cluster.ListingExample;
import io.millrace.examples.cluster.PortExample;
import io.millrace.examples.cluster.TopicExample;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Something for members to do that comes with the program. */
enum Example {
  /** Windowed work: the files of a folder, each hashed once. */
  FILES,
  /** Work that cannot be divided: one member listens on a port. */
  PORT,
  /** Supervised work: the files of a folder, each followed as it grows. */
  TOPIC,
  /** Remote work: the files of a folder, each hashed by a lambda that the leader sends. */
  LISTING,
  /** Remote work: files that grow, followed by lambdas that go on until their members go. */
  FEED;

  /**
   * What the duty of a member is made with.
   *
   * @param documents what all members share
   * @param remote what it brings with it for remote work
   */
  record Means(VersionedDocuments documents, Remote remote) {}

  /**
   * The example that {@code --example} names.
   *
   * @throws UsageException if there is none
   */
  static Example of(String name) {
    return Arrays.stream(values())
        .filter(example -> example.word().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new UsageException(
                "there is no example '%s'; there is: %s"
                    .formatted(
                        name,
                        Arrays.stream(values())
                            .map(Example::word)
                            .collect(Collectors.joining(", ")))));
  }

  private String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether members run code that their leader sends them, for which they need a secret. */
  boolean isRemote() {
    return this == LISTING || this == FEED;
  }

  /** Whether its plan says how long each step takes at least. */
  boolean isPaced() {
    return this == FILES || this == LISTING;
  }

  /**
   * What a plan has a member do.
   *
   * @throws UsageException if this version does not understand the plan
   */
  Duty duty(Plan plan, Means means) {
    return switch (this) {
      case FILES ->
          Duty.of(new FilesExample(means.documents(), plan.input(), plan.output(), plan.pace()));
      case PORT -> Duty.of(new PortExample(plan.port(), plan.output()), means.documents());
      case TOPIC -> Duty.of(new TopicExample(means.documents(), plan.input(), plan.output()));
      case LISTING ->
          means.remote().duty(new ListingExample(plan.input(), plan.output(), plan.pace()));
      case FEED -> means.remote().duty(new FeedExample(plan.input(), plan.output()));
    };
  }
}
