package io.millrace.cluster.simulation;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.remote.dispatch.Dispatcher;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The program of a member, which starts again whenever the member becomes the leader. */
final class SimulatedProgram implements Dispatcher.Submitter {
  private final Function<Guard, SimulatedProgramRun> program;
  private @Nullable SimulatedProgramRun lead;

  SimulatedProgram(Function<Guard, SimulatedProgramRun> program) {
    this.program = program;
  }

  @Override
  public void begin(Guard leader) {
    lead = program.apply(leader);
  }

  @Override
  public boolean submit(Dispatcher dispatcher) {
    return lead != null && lead.submit(dispatcher);
  }

  @Override
  public void end() {
    if (lead != null) {
      lead.end();
      lead = null;
    }
  }
}
