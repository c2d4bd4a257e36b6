package io.millrace.cluster.simulation;

import io.millrace.cluster.documents.VersionedDocument;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.PartitionRunner;
import io.millrace.cluster.remote.dispatch.Dispatcher;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A cluster whose leader sends lambdas to members, one for each item of a backlog. */
final class RemoteSimulation extends ClusterSimulation {
  /** The number of items. */
  static final int ITEMS = 30;

  private final RemoteChecker checker = new RemoteChecker();
  private final SimulatedProgramRun.Environment environment =
      new SimulatedProgramRun.Environment(world, faults, checker);

  RemoteSimulation(long seed) {
    super(seed, TERMS);
    documents.onPut(checker::written);
  }

  @Override
  SimulatedHandler handlerOf(Host host, MemberContext context) {
    return new SimulatedLambdaHandler(host, context, environment);
  }

  @Override
  SimulatedMember.MemberSetup setup(SimulatedConnection connection) {
    return new SimulatedMember.MemberSetup() {
      @Override
      public Leader leader(MemberContext context) {
        Program program =
            new Program(guard -> new SimulatedProgramRun(environment, context, guard));
        return new Leader(context, new Dispatcher(context, program));
      }

      @Override
      public PartitionRunner.Mode mode() {
        return PartitionRunner.Mode.ADDRESSED;
      }
    };
  }

  void run() {
    for (int i = 0; i < 4; i++) {
      start((int) world.between(1, 3));
    }
    injectFaultsUntil(15_000);
    world.runUntil(world.now() + 4 * LEASE);
    // A leader that stays must recover lost messages by itself.
    if (world.oneIn(2)) {
      requireLeaderAfterACrash();
    }
    long until = world.now() + 60 * LEASE;
    while (checker.done() < ITEMS && world.now() < until) {
      world.runUntil(world.now() + 500);
    }
    Resource.require(checker.done() == ITEMS, checker.done() + " of " + ITEMS + " items are done");
    long clean = world.now() + 12 * LEASE;
    while (!left().isEmpty() && world.now() < clean) {
      world.runUntil(world.now() + 500);
    }
    Resource.require(left().isEmpty(), "left are " + left());
  }

  private List<VersionedDocument> left() {
    return Stream.of("partition/", "result/", "dead/")
        .flatMap(prefix -> documents.list(prefix, 0).stream())
        .toList();
  }

  /** The number of lambdas that ran and were reported with another outcome. */
  int runInVain() {
    return checker.runInVain();
  }

  String summary() {
    return "%d ms, %d submitted, %d run, %d told"
        .formatted(world.now(), checker.submissions(), checker.runs(), checker.notified());
  }

  /** The program of a member, which starts again whenever the member becomes the leader. */
  private static final class Program implements Dispatcher.Submitter {
    private final Function<Guard, SimulatedProgramRun> program;
    private @Nullable SimulatedProgramRun lead;

    Program(Function<Guard, SimulatedProgramRun> program) {
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
}
