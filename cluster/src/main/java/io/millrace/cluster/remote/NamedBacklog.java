package io.millrace.cluster.remote;

import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.MemberContext;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** A backlog for lambdas. It uses the documents of the member that runs the lambda. */
record NamedBacklog(String name) implements Backlog {
  private static final long serialVersionUID = 1;

  private BacklogItems items() {
    return new BacklogItems(Member.current().context().documents(), name);
  }

  private static RetryingWriter writer() {
    MemberContext context = Member.current().context();
    return new RetryingWriter(Member.guard(), context.terms());
  }

  @Override
  public void add(Collection<String> items) {
    BacklogItems found = items();
    writer().repeat(() -> found.add(items));
  }

  @Override
  public List<String> take(int max) {
    throw notHere();
  }

  @Override
  public List<String> take(int max, Duration wait) {
    throw notHere();
  }

  @Override
  public void reEnqueue(String item) {
    throw notHere();
  }

  @Override
  public void commit(String item) {
    BacklogItems found = items();
    writer().repeat(() -> found.commit(item));
  }

  @Override
  public int outstanding() {
    return items().outstanding();
  }

  private IllegalStateException notHere() {
    return new IllegalStateException(
        "items of "
            + name
            + " can be given out by the leader's program only, with RemoteExecutor.backlog");
  }
}
