package io.millrace.cluster.simulation;

import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Lease;
import io.millrace.cluster.member.MemberLoop;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.partition.PartitionRunner;
import java.util.Optional;

/** A member of the simulated cluster, with its two threads. */
final class SimulatedMember {
  private final World world;
  private final Host host;
  private final SimulatedClock clock;
  private final SimulatedHandler work;
  private final Leader leader;
  private final MemberLoop loop;
  private final Peer peer;
  private long steps;
  private boolean inStep;

  SimulatedMember(
      World world, Host host, MemberContext context, SimulatedHandler work, MemberSetup setup) {
    this.world = world;
    this.host = host;
    this.clock = (SimulatedClock) context.clock();
    this.work = work;
    this.peer = context.peer();
    this.leader = setup.leader(context);
    this.loop = new MemberLoop(context, work, setup.mode(), leader);
    work.onEnd(() -> scheduleStep(world.now()));
  }

  /** The parts that all members of a cluster have in common. */
  interface MemberSetup {
    Leader leader(MemberContext context);

    PartitionRunner.Mode mode();
  }

  Host host() {
    return host;
  }

  String token() {
    return peer.token();
  }

  int workers() {
    return peer.workers();
  }

  SimulatedHandler work() {
    return work;
  }

  @Override
  public String toString() {
    return "%s with %d workers holds %d, %s%s"
        .formatted(
            peer.token(),
            peer.workers(),
            held(),
            leading().isPresent() ? "leads, " : "",
            inStep ? "in a step" : "idle");
  }

  int held() {
    return loop.held();
  }

  Optional<Lease> leading() {
    return host.isGone() ? Optional.empty() : loop.leading();
  }

  void start() {
    scheduleStep(world.now());
    host.at(world.now(), this::lead);
  }

  /** Only the step that was scheduled last runs, because one thread drives the loop. */
  private void scheduleStep(long millis) {
    long number = ++steps;
    host.at(
        millis,
        () -> {
          if (number == steps && !inStep) {
            step();
          }
        });
  }

  private void step() {
    long number = steps;
    inStep = true;
    long due = loop.step();
    inStep = false;
    // Another step was requested meanwhile.
    boolean again = number != steps;
    scheduleStep(again ? world.now() : Math.max(clock.trueMillis(due), world.now() + 1));
  }

  private long standBy() {
    leader.standBy();
    return clock.monotonicMillis() + 100;
  }

  private void lead() {
    long due = loop.leading().map(leader::step).orElseGet(this::standBy);
    if (leader.wantsNewGeneration()) {
      scheduleStep(world.now());
    }
    host.at(Math.max(clock.trueMillis(due), world.now() + 1), this::lead);
  }
}
