package io.millrace.cluster.remote;

import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.membership.MemberContext;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.LongPredicate;

/** A backlog for the leader's program. It is serialized as a {@link NamedBacklog}. */
final class LeaderBacklog implements Backlog {
  private static final long serialVersionUID = 1;
  private static final Duration FOREVER = Duration.ofDays(100_000);
  private static final int POLLS = 8;
  private static final long MAX_POLL_MILLIS = 500;

  private final String name;
  private final transient MemberContext context;
  private final transient Guard leader;
  private final transient BacklogItems items;
  private final transient ItemAssigner assigner;
  private final transient RetryingWriter writer;
  private final transient Object lock = new Object();

  LeaderBacklog(String name, MemberContext context, Guard leader, LongPredicate isOver) {
    this.name = name;
    this.context = context;
    this.leader = leader;
    this.items = new BacklogItems(context.documents(), name);
    this.assigner = new ItemAssigner(items, leader, isOver);
    this.writer = new RetryingWriter(leader, context.terms());
  }

  @Override
  public void add(Collection<String> fresh) {
    writer.repeat(() -> items.add(fresh));
    call();
  }

  @Override
  public List<String> take(int max) throws InterruptedException {
    return take(max, FOREVER);
  }

  @Override
  public List<String> take(int max, Duration wait) throws InterruptedException {
    if (max < 1) {
      throw new IllegalArgumentException("at least 1 item is taken, not " + max);
    }
    long until = context.now() + (wait.compareTo(FOREVER) < 0 ? wait : FOREVER).toMillis();
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    synchronized (lock) {
      while (true) {
        List<String> taken = writer.repeat(() -> assigner.take(max));
        long left = until - context.now();
        if (!taken.isEmpty() || left <= 0) {
          return taken;
        }
        long poll = Math.min(context.leaseMillis() / POLLS, MAX_POLL_MILLIS);
        lock.wait(Math.min(left, poll));
      }
    }
  }

  @Override
  public void reEnqueue(String item) {
    synchronized (lock) {
      writer.repeat(() -> assigner.reEnqueue(item));
      lock.notifyAll();
    }
  }

  @Override
  public void commit(String item) {
    leader.check();
    writer.repeat(() -> items.commit(item));
  }

  @Override
  public int outstanding() {
    return items.outstanding();
  }

  private void call() {
    synchronized (lock) {
      lock.notifyAll();
    }
  }

  private Object writeReplace() {
    return new NamedBacklog(name);
  }

  private void readObject(ObjectInputStream stream) throws InvalidObjectException {
    throw new InvalidObjectException("only the name of a backlog is serialized");
  }
}
