package io.millrace.cli.cluster;

import io.millrace.cluster.example.FilesExample;
import io.millrace.cluster.member.Duty;
import java.util.Map;

/** Windowed work: the files of a folder, each hashed once. */
final class HashedFiles implements Example {
  private static final String INPUT = "input";
  private static final String OUTPUT = "output";
  private static final String PACE = "pace";

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
    return Duty.of(
        new FilesExample(means.documents(), plan.path(INPUT), plan.path(OUTPUT), plan.time(PACE)));
  }
}
