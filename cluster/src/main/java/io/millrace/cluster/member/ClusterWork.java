package io.millrace.cluster.member;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.Version;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.leader.Leader;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.partition.PartitionHandler;
import io.millrace.cluster.partition.PartitionName;
import io.millrace.cluster.partition.PartitionRunner;
import io.millrace.cluster.work.SingleWork;
import io.millrace.cluster.work.SupervisedWork;
import io.millrace.cluster.work.WindowedWork;
import io.millrace.cluster.work.WorkerCode;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The work of a cluster, which is the same for all its members.
 *
 * @param handler creates the part of a member that works on partitions
 * @param mode how members share the work
 * @param leader creates the part of a member that assigns the work
 */
public record ClusterWork(
    Function<Member, PartitionHandler> handler,
    PartitionRunner.Mode mode,
    Function<Member, Leader> leader) {
  /** The document that marks single work as finished. */
  static final String SINGLE_DONE = "finished/single";

  /** Work that is divided among the members, and again when members join or leave. */
  public static ClusterWork of(SupervisedWork work) {
    return new ClusterWork(
        member -> new ThreadedWork(work, member),
        PartitionRunner.Mode.DIVIDED,
        member -> new Leader(member.context(), work));
  }

  /** Work whose tasks appear over time. */
  public static ClusterWork of(WindowedWork work) {
    return new ClusterWork(
        member -> new ThreadedWork(work, member),
        work.isLong() ? PartitionRunner.Mode.LONG : PartitionRunner.Mode.SHORT,
        member -> new Leader(member.context(), work));
  }

  /**
   * Work that one member at a time does. The document {@code finished/single} marks it as finished.
   */
  public static ClusterWork of(SingleWork work, VersionedDocuments documents) {
    return of(new SingleTask(work, documents));
  }

  /** No work: the members only elect a leader. */
  public static ClusterWork none() {
    return of(new NoWork());
  }

  private record SingleTask(SingleWork work, VersionedDocuments documents) implements WindowedWork {
    @Override
    public List<byte[]> next(List<byte[]> outstanding, int max) {
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

  private record NoWork() implements WindowedWork {
    @Override
    public List<byte[]> next(List<byte[]> outstanding, int max) {
      return List.of();
    }

    @Override
    public void completed(byte[] task, Guard leader) {}

    @Override
    public void run(byte[] task, Guard guard) {}
  }

  /** Runs users' code on each partition, in a thread of its own. */
  private static final class ThreadedWork implements PartitionHandler {
    private static final Logger LOG = LoggerFactory.getLogger(ThreadedWork.class);

    private final WorkerCode code;
    private final Member member;

    /** Creates a handler that runs this code. */
    ThreadedWork(WorkerCode code, Member member) {
      this.code = code;
      this.member = member;
    }

    @Override
    public Attempt start(PartitionName name, byte[] task, Guard guard) {
      return ThreadAttempt.start(
          "partition-" + guard.fence(), member, guard, attempt -> run(task, guard, attempt));
    }

    private boolean run(byte[] task, Guard guard, ThreadAttempt attempt) {
      try {
        member.run(
            guard,
            () -> {
              code.run(task, guard);
              return true;
            });
        return true;
      } catch (Throwable e) {
        if (e instanceof InterruptedException) {
          Thread.currentThread().interrupt();
        }
        log(e, guard, attempt);
        return false;
      }
    }

    /** Code that is interrupted or has lost its partition may throw any exception. */
    private static void log(Throwable thrown, Guard guard, ThreadAttempt attempt) {
      if (thrown instanceof Error) {
        LOG.error("Work with fence {} failed", guard.fence(), thrown);
      } else if (attempt.isToStop()) {
        String why = thrown instanceof ClusterException ? thrown.getMessage() : thrown.toString();
        LOG.info("Work with fence {} was stopped: {}", guard.fence(), why);
      } else if (thrown instanceof ClusterException) {
        LOG.warn("Work with fence {} failed: {}", guard.fence(), thrown.getMessage());
      } else {
        LOG.warn("Work with fence {} failed", guard.fence(), thrown);
      }
    }
  }
}
