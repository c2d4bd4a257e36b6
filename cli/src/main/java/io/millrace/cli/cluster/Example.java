package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.member.Duty;
import io.millrace.examples.cluster.FeedExample;
import io.millrace.examples.cluster.FilesExample;
import io.millrace.examples.cluster.ListingExample;
import io.millrace.examples.cluster.PortExample;
import io.millrace.examples.cluster.TopicExample;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Something for members to do that comes with the program. */
interface Example {
  /** All of them. */
  List<Example> ALL =
      List.of(
          new HashedFiles(),
          new ListenedPort(),
          new FollowedTopic(),
          new ListedFiles(),
          new FollowedFeed());

  /** What {@code --example} calls it. */
  String name();

  /**
   * What the options say, in the form of a plan without the name of the example.
   *
   * @throws UsageException where they do not go together
   */
  Map<String, String> plan(ExampleOptions options);

  /** Whether members run code that their leader sends them, for which they need a secret. */
  boolean isRemote();

  /**
   * What a plan has a member do.
   *
   * @throws UsageException where this version does not understand the plan
   */
  Duty duty(Plan plan, Means means);

  /**
   * The example of a name.
   *
   * @throws UsageException where there is none
   */
  static Example of(String name) {
    return ALL.stream()
        .filter(example -> example.name().equals(name))
        .findFirst()
        .orElseThrow(() ->
            new UsageException(
                "there is no example '%s'; there is: %s"
                    .formatted(
                        name, ALL.stream().map(Example::name).collect(Collectors.joining(", ")))));
  }

  /** Windowed work: the files of a folder, each hashed once. */
  final class HashedFiles implements Example {
    @Override
    public String name() {
      return "files";
    }

    @Override
    public boolean isRemote() {
      return false;
    }

    @Override
    public Map<String, String> plan(ExampleOptions options) {
      return Plan.pacedFolder(options);
    }

    @Override
    public Duty duty(Plan plan, Means means) {
      return Duty.of(new FilesExample(means.documents(), plan.input(), plan.output(), plan.pace()));
    }
  }

  /** Remote work: the files of a folder, each hashed by a lambda that the leader sends. */
  final class ListedFiles implements Example {
    @Override
    public String name() {
      return "listing";
    }

    @Override
    public boolean isRemote() {
      return true;
    }

    @Override
    public Map<String, String> plan(ExampleOptions options) {
      return Plan.pacedFolder(options);
    }

    @Override
    public Duty duty(Plan plan, Means means) {
      return means.remote().duty(new ListingExample(plan.input(), plan.output(), plan.pace()));
    }
  }

  /** Supervised work: the files of a folder, each followed as it grows. */
  final class FollowedTopic implements Example {
    @Override
    public String name() {
      return "topic";
    }

    @Override
    public boolean isRemote() {
      return false;
    }

    @Override
    public Map<String, String> plan(ExampleOptions options) {
      options.refusePace();
      return Plan.folder(options);
    }

    @Override
    public Duty duty(Plan plan, Means means) {
      return Duty.of(new TopicExample(means.documents(), plan.input(), plan.output()));
    }
  }

  /** Remote work: files that grow, followed by lambdas that go on until their members go. */
  final class FollowedFeed implements Example {
    @Override
    public String name() {
      return "feed";
    }

    @Override
    public boolean isRemote() {
      return true;
    }

    @Override
    public Map<String, String> plan(ExampleOptions options) {
      options.refusePace();
      return Plan.folder(options);
    }

    @Override
    public Duty duty(Plan plan, Means means) {
      return means.remote().duty(new FeedExample(plan.input(), plan.output()));
    }
  }

  /** Work that cannot be divided: one member listens on a port. */
  final class ListenedPort implements Example {
    private static final String PORT = "port";

    @Override
    public String name() {
      return "port";
    }

    @Override
    public boolean isRemote() {
      return false;
    }

    @Override
    public Map<String, String> plan(ExampleOptions options) {
      options.refusePace();
      return Map.of(
          PORT, Integer.toString(options.port()), Plan.OUTPUT, options.output().toString());
    }

    @Override
    public Duty duty(Plan plan, Means means) {
      return Duty.of(new PortExample(plan.number(PORT), plan.output()), means.documents());
    }
  }

  /**
   * What the duty of a member is made with.
   *
   * @param documents what all members share
   * @param remote what it brings with it for remote work
   */
  record Means(VersionedDocuments documents, Remote remote) {}
}
