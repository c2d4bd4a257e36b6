package io.millrace.cli.cluster;

import io.millrace.cluster.example.FeedExample;
import io.millrace.cluster.member.Duty;
import java.util.Map;

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
