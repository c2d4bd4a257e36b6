package io.millrace.cli.cluster;

import io.millrace.cluster.example.TopicExample;
import io.millrace.cluster.member.Duty;
import java.util.Map;

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
