package io.millrace.cluster.leader;

import io.millrace.cluster.partition.Partition;
import io.millrace.cluster.work.WindowedWork;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Gives out tasks as long as there is room, and removes what is done. */
final class WindowedHandout implements Handout {
  /** Tasks that are given out for each worker: the one it works on, and its next. */
  private static final int WINDOW = 2;

  private final WindowedWork work;

  WindowedHandout(WindowedWork work) {
    this.work = work;
  }

  @Override
  public Result take(Turn turn, Board board) {
    boolean busy = false;
    for (Partition partition : turn.partitions()) {
      if (partition.isDone()) {
        turn.guard().check();
        work.completed(partition.task(), turn.guard());
        board.remove(turn.guard(), partition);
        busy = true;
      } else if (turn.isOld(partition) && board.isFree(partition)) {
        board.renew(turn.guard(), partition);
        busy = true;
      }
    }
    Set<String> outstanding = board.outstanding(turn.partitions());
    int room = WINDOW * turn.members().workers() - outstanding.size();
    if (room > 0) {
      List<byte[]> tasks = next(outstanding, room);
      board.create(turn.guard(), tasks);
      busy |= !tasks.isEmpty();
    }
    return busy ? Result.BUSY : Result.IDLE;
  }

  private List<byte[]> next(Set<String> outstanding, int most) {
    List<byte[]> known =
        outstanding.stream().map(Base64.getDecoder()::decode).collect(Collectors.toList());
    return work.next(known, most).stream()
        .filter(task -> !outstanding.contains(Base64.getEncoder().encodeToString(task)))
        .limit(most)
        .toList();
  }
}
