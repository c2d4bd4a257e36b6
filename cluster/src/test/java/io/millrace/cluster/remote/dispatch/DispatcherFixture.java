package io.millrace.cluster.remote.dispatch;

import io.millrace.cluster.documents.files.FileDocuments;
import io.millrace.cluster.lambda.Address;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.lock.LeaseTerms;
import io.millrace.cluster.lock.Locks;
import io.millrace.cluster.lock.ManualClock;
import io.millrace.cluster.membership.MemberContext;
import io.millrace.cluster.membership.MemberList;
import io.millrace.cluster.membership.MemberRegistration;
import io.millrace.cluster.membership.Peer;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.remote.outcome.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** A leader and members whose steps and writes are made by the test. */
final class DispatcherFixture implements Dispatcher.Submitter, AutoCloseable {
  static final LeaseTerms TERMS = LeaseTerms.of(Duration.ofSeconds(10));
  static final long LEASE = 10_000;

  final HookedDocuments documents;
  final ManualClock clock = new ManualClock(1_000_000, 50_000);
  final List<String> events = new ArrayList<>();
  Dispatcher.View view = Dispatcher.View.nothing();
  private final Leader leader;
  private final Deque<Consumer<Dispatcher>> commands = new ArrayDeque<>();
  private final Map<String, Locks.HeldLock> presences = new HashMap<>();
  private long fence = 1;

  DispatcherFixture(Path folder) {
    documents = new HookedDocuments(FileDocuments.open(folder));
    MemberContext context =
        new MemberContext(new Peer("leader", 1), documents, TERMS, clock, new SplittableRandom(1));
    leader = new Leader(context, new Dispatcher(context, this));
  }

  @Override
  public void begin(Guard guard) {
    events.add("begin " + guard.fence());
  }

  @Override
  public boolean submit(Dispatcher dispatcher) {
    while (!commands.isEmpty()) {
      commands.removeFirst().accept(dispatcher);
    }
    view = dispatcher.view();
    return false;
  }

  @Override
  public void end() {
    events.add("end");
  }

  /** Runs a round of the leader, and then renews the members' locks. */
  void round() {
    long now = fence;
    leader.step(
        new Guard() {
          @Override
          public long fence() {
            return now;
          }

          @Override
          public Duration remaining() {
            return TERMS.lease();
          }
        });
    presences.replaceAll((token, held) -> locks(token).renew(held).orElseThrow());
  }

  /** Runs rounds for some time, a quarter of the lease apart. */
  void rounds(long millis) {
    for (long passed = 0; passed < millis; passed += LEASE / 4) {
      clock.advance(LEASE / 4);
      round();
    }
  }

  void nextLeader() {
    fence++;
  }

  Locks locks(String token) {
    return new Locks(documents, token, TERMS, clock);
  }

  void join(String token, int workers) {
    MemberList.add(documents, new Peer(token, workers));
    presences.put(token, locks(token).create(MemberRegistration.PREFIX + token).orElseThrow());
  }

  /** Lets a member disappear without a trace. */
  void disappear(String token) {
    presences.remove(token);
  }

  void execute(Consumer<Dispatcher> command) {
    commands.add(command);
  }

  PartitionName submit(long number, String member, long limitMillis) {
    PartitionName name = new PartitionName(fence, number);
    Submission submission =
        new Submission(
            new Address(name, member),
            "YQ==",
            limitMillis,
            () -> events.add(number + " begun"),
            ending -> events.add(number + " " + ending));
    execute(dispatcher -> dispatcher.submit(submission));
    return name;
  }

  Locks.HeldLock take(PartitionName name, String member) {
    return locks(member).take(documents.get(name.key()).orElseThrow()).orElseThrow();
  }

  void finish(PartitionName name, Locks.HeldLock held, Outcome outcome) {
    outcome.write(documents, name, held.fence());
    if (!locks(held.lock().holder()).finish(held)) {
      throw new AssertionError("it was not held any more");
    }
  }

  boolean isThere(String key) {
    return documents.get(key).isPresent();
  }

  @Override
  public void close() {
    documents.close();
  }
}
