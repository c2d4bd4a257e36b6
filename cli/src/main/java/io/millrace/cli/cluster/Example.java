package io.millrace.cli.cluster;

import io.millrace.cli.terminal.UsageException;
import io.millrace.cluster.member.Duty;
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
}
