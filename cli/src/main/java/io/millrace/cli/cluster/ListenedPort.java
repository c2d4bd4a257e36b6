package io.millrace.cli.cluster;

import io.millrace.cluster.example.PortExample;
import io.millrace.cluster.member.Duty;
import java.util.Map;

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
    return Map.of(PORT, Integer.toString(options.port()), Plan.OUTPUT, options.output().toString());
  }

  @Override
  public Duty duty(Plan plan, Means means) {
    return Duty.of(new PortExample(plan.number(PORT), plan.output()), means.documents());
  }
}
