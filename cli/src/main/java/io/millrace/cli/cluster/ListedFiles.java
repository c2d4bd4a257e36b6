package io.millrace.cli.cluster;

import io.millrace.cluster.example.ListingExample;
import io.millrace.cluster.member.Duty;
import java.util.Map;

/** Remote work: the files of a folder, each hashed by a lambda that the leader sends. */
final class ListedFiles implements Example {
  private static final String INPUT = "input";
  private static final String OUTPUT = "output";
  private static final String PACE = "pace";

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
    return Map.of(
        INPUT,
        options.inputFolder().toString(),
        OUTPUT,
        options.outputBesideInput().toString(),
        PACE,
        Long.toString(options.pace().toMillis()));
  }

  @Override
  public Duty duty(Plan plan, Means means) {
    return means
        .remote()
        .duty(new ListingExample(plan.path(INPUT), plan.path(OUTPUT), plan.time(PACE)));
  }
}
