package io.millrace.cli.cluster;

import io.millrace.cluster.example.FilesExample;
import io.millrace.cluster.member.Duty;
import java.util.Map;

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
