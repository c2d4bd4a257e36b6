package io.millrace.cluster.member;

import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.partition.Follower;
import io.millrace.cluster.partition.Work;
import io.millrace.cluster.work.SingleWork;
import io.millrace.cluster.work.SupervisedWork;
import io.millrace.cluster.work.WindowedWork;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;

/**
 * What the members of a cluster are there for: one kind of work. All members have the same.
 *
 * @param work makes what works on partitions
 * @param custom what that kind of work asks of members
 * @param leader makes what gives the work out
 */
public record Duty(
    Function<Seat, Work> work, Follower.Custom custom, Function<Seat, Leader> leader) {
  /** The document that says that single work is over. */
  static final String SINGLE_DONE = "finished/single";

  /** Work that is divided once, and anew when members come or go. */
  public static Duty of(SupervisedWork work) {
    return new Duty(
        seat -> new ThreadedWork(work, seat),
        Follower.Custom.DIVIDED,
        seat -> Leader.of(seat.station(), work));
  }

  /** Work whose tasks come up one after the other. */
  public static Duty of(WindowedWork work) {
    return new Duty(
        seat -> new ThreadedWork(work, seat),
        work.isLong() ? Follower.Custom.LONG : Follower.Custom.SHORT,
        seat -> Leader.of(seat.station(), work));
  }

  /**
   * Work that one member does at a time. That it is over stands in the document {@code
   * finished/single}.
   */
  public static Duty of(SingleWork work, VersionedDocuments documents) {
    return of(new OneTask(work, documents));
  }

  /** Nothing to work on: members know each other and have a leader. */
  public static Duty none() {
    return of(new Nothing());
  }

  private record OneTask(SingleWork work, VersionedDocuments documents) implements WindowedWork {
    @Override
    public List<byte[]> next(List<byte[]> outstanding, int most) {
      boolean over = !outstanding.isEmpty() || documents.get(SINGLE_DONE).isPresent();
      return over ? List.of() : List.of("single".getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void completed(byte[] task, Guard leader) {
      documents.put(SINGLE_DONE, Version.NONE, "{}");
    }

    @Override
    public void run(byte[] task, Guard guard) throws Exception {
      work.run(guard);
    }
  }

  private record Nothing() implements WindowedWork {
    @Override
    public List<byte[]> next(List<byte[]> outstanding, int most) {
      return List.of();
    }

    @Override
    public void completed(byte[] task, Guard leader) {}

    @Override
    public void run(byte[] task, Guard guard) {}
  }
}
