package io.millrace.queues;

/**
 * How many tasks of each kind a queue has.
 *
 * @param queued with {@link TaskKind#QUEUED}
 * @param active with {@link TaskKind#ACTIVE}
 * @param held with {@link TaskKind#HELD}
 * @param finished with {@link TaskKind#FINISHED}
 */
public record KindCounts(long queued, long active, long held, long finished) {
  static final KindCounts NONE = new KindCounts(0, 0, 0, 0);

  /** The tasks of one kind. */
  public long of(TaskKind kind) {
    return switch (kind) {
      case QUEUED -> queued;
      case ACTIVE -> active;
      case HELD -> held;
      case FINISHED -> finished;
    };
  }

  KindCounts plus(TaskKind kind, long more) {
    return switch (kind) {
      case QUEUED -> new KindCounts(queued + more, active, held, finished);
      case ACTIVE -> new KindCounts(queued, active + more, held, finished);
      case HELD -> new KindCounts(queued, active, held + more, finished);
      case FINISHED -> new KindCounts(queued, active, held, finished + more);
    };
  }
}
