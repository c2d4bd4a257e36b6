package io.millrace.cluster.simulation;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.lambda.RefusedLambdaException;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.BacklogItems;
import io.millrace.cluster.remote.LambdaAdmission;
import io.millrace.cluster.remote.outcome.Outcome;
import io.millrace.cluster.remote.outcome.RemoteFailure;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** Runs lambdas, each of which commits an item. */
final class SimulatedLambdaHandler extends SimulatedHandler {
  private final World world;
  private final Host host;
  private final Faults faults;
  private final RemoteChecker checker;
  private final String token;
  private final LambdaAdmission admission;
  private final BacklogItems items;
  private final VersionedDocuments documents;

  SimulatedLambdaHandler(
      Host host, MemberContext context, SimulatedProgramRun.Environment environment) {
    super(environment.world(), host, false);
    this.world = environment.world();
    this.host = host;
    this.faults = environment.faults();
    this.checker = environment.checker();
    this.token = context.peer().token();
    this.admission = new LambdaAdmission(token, SimulatedLambdaHandler::open);
    this.items = new BacklogItems(context.documents(), SimulatedProgramRun.BACKLOG);
    this.documents = context.documents();
  }

  static String seal(Address address, String item) {
    String text = address.partition().key() + " " + address.member() + " " + item;
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String[] parts(byte[] envelope) {
    return new String(envelope, StandardCharsets.UTF_8).split(" ", -1);
  }

  private static Address open(byte[] envelope) {
    String[] parts = parts(envelope);
    PartitionName name =
        PartitionName.of(parts[0]).orElseThrow(() -> new RefusedLambdaException("no name"));
    return new Address(name, parts[1]);
  }

  @Override
  public boolean accepts(Partition partition) {
    return admission.admits(partition);
  }

  @Override
  public Attempt start(PartitionName name, byte[] task, Guard guard) {
    Resource.require(admission.begin(name), name + " was begun before");
    checker.runs(name, token);
    return super.start(name, task, guard);
  }

  @Override
  boolean finish(SimulatedAttempt attempt) {
    if (faults.isOn() && world.oneIn(20)) {
      host.pause(world.between(1000, 8000));
    }
    host.pass(world.between(0, 20));
    Outcome outcome = run(attempt);
    while (!attempt.isStopped() && attempt.guard().isHeld()) {
      try {
        outcome.write(documents, attempt.name(), attempt.guard().fence());
        return true;
      } catch (ClusterException e) {
        host.pass(world.between(10, 50));
      }
    }
    return false;
  }

  private Outcome run(SimulatedAttempt attempt) {
    if (faults.isOn() && world.oneIn(20)) {
      return new Outcome.Failed(new RemoteFailure("Trouble", "", ""));
    }
    String item = parts(attempt.task().getBytes(StandardCharsets.UTF_8))[2];
    while (true) {
      try {
        attempt.guard().check();
        items.commit(item);
        return new Outcome.Done(item);
      } catch (ClusterException e) {
        if (!attempt.guard().isHeld()) {
          return new Outcome.Failed(new RemoteFailure("Lost", "", ""));
        }
        host.pass(world.between(10, 50));
      }
    }
  }
}
