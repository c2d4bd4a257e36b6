package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.remote.dispatch.Dispatcher;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the leader's program, with a new executor in each generation. */
final class ProgramRunner implements Dispatcher.Submitter {
  private static final Logger LOG = LoggerFactory.getLogger(ProgramRunner.class);

  private final Member member;
  private final RemoteWork work;
  private final LambdaCodec codec;
  private @Nullable Run current;

  ProgramRunner(Member member, RemoteWork work, LambdaCodec codec) {
    this.member = member;
    this.work = work;
    this.codec = codec;
  }

  @Override
  public void begin(Guard leader) {
    current = new Run(leader);
  }

  @Override
  public boolean submit(Dispatcher dispatcher) {
    return current != null && current.submit(dispatcher);
  }

  @Override
  public void end() {
    if (current != null) {
      current.end();
      current = null;
    }
  }

  /** The program during one generation. */
  private final class Run {
    private final Guard leader;
    private final RemoteExecutor executor;
    private final Thread thread;
    private volatile boolean over;
    private volatile long againMillis = Long.MAX_VALUE;

    Run(Guard leader) {
      this.leader = leader;
      this.executor = new RemoteExecutor(member, codec, leader);
      this.thread = Thread.ofVirtual().name("program-" + leader.fence()).start(this::run);
    }

    /** Whether the program has failed and must be run again now. */
    boolean submit(Dispatcher dispatcher) {
      executor.exchange(dispatcher);
      return member.context().now() >= againMillis;
    }

    void end() {
      over = true;
      executor.end();
      thread.interrupt();
    }

    private void run() {
      try {
        member.run(
            leader,
            () -> {
              work.lead(executor);
              return true;
            });
        LOG.info("The program of leader {} has returned", leader.fence());
      } catch (Exception | Error e) {
        if (over || !leader.isHeld()) {
          LOG.debug(
              "The program of leader {} ended because leadership was lost", leader.fence(), e);
        } else {
          LOG.warn("The program of leader {} failed, and will be run again", leader.fence(), e);
          againMillis = member.context().now() + member.context().leaseMillis();
        }
      }
    }
  }
}
