package io.millrace.cli.cluster;

import io.millrace.cluster.example.ListingExample;
import io.millrace.cluster.member.Duty;
import java.util.Map;

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
