package io.millrace.cluster.remote;

import io.millrace.cluster.member.Member;
import io.millrace.cluster.membership.Station;
import io.millrace.cluster.remote.backlog.Items;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/** A backlog wherever a member works, which is found when it is used. */
record NamedBacklog(String name) implements Backlog {
  private static final long serialVersionUID = 1;

  private Items items() {
    return new Items(Member.current().station().documents(), name);
  }

  private static Persistence persistence() {
    Station station = Member.current().station();
    return new Persistence(Member.guard(), station.terms());
  }

  @Override
  public void add(Collection<String> items) {
    Items found = items();
    persistence()
        .persist(() -> {
          found.add(items);
          return true;
        });
  }

  @Override
  public List<String> take(int most) {
    throw notHere();
  }

  @Override
  public List<String> take(int most, Duration wait) {
    throw notHere();
  }

  @Override
  public void reEnqueue(String item) {
    throw notHere();
  }

  @Override
  public void commit(String item) {
    Items found = items();
    persistence()
        .persist(() -> {
          found.commit(item);
          return true;
        });
  }

  @Override
  public int outstanding() {
    return items().outstanding();
  }

  private IllegalStateException notHere() {
    return new IllegalStateException(
        "items of " + name + " are given out by the leader's program, with Crew.backlog");
  }
}
