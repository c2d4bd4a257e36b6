package io.millrace.cluster.remote;

import io.millrace.cluster.lambda.LambdaCodec;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Seat;
import io.millrace.cluster.remote.dispatch.Desk;
import io.millrace.cluster.remote.dispatch.Director;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the leader's program, with a crew for each generation. */
final class Program implements Director {
  private static final Logger LOG = LoggerFactory.getLogger(Program.class);

  private final Seat seat;
  private final RemoteWork work;
  private final LambdaCodec codec;
  private @Nullable Shift shift;

  Program(Seat seat, RemoteWork work, LambdaCodec codec) {
    this.seat = seat;
    this.work = work;
    this.codec = codec;
  }

  @Override
  public void begin(Guard leader) {
    shift = new Shift(leader);
  }

  @Override
  public boolean direct(Desk desk) {
    return shift != null && shift.direct(desk);
  }

  @Override
  public void end() {
    if (shift != null) {
      shift.end();
      shift = null;
    }
  }

  /** The program during one generation. */
  private final class Shift {
    private final Guard leader;
    private final LiveCrew crew;
    private final Thread thread;
    private volatile boolean over;
    private volatile long againMillis = Long.MAX_VALUE;

    Shift(Guard leader) {
      this.leader = leader;
      this.crew = new LiveCrew(seat, codec, leader);
      this.thread = Thread.ofVirtual().name("program-" + leader.fence()).start(this::run);
    }

    /** Whether the program has failed, and it is time to run it again. */
    boolean direct(Desk desk) {
      crew.direct(desk);
      return seat.station().now() >= againMillis;
    }

    void end() {
      over = true;
      crew.end();
      thread.interrupt();
    }

    private void run() {
      try {
        seat.carry(
            leader,
            () -> {
              work.lead(crew);
              return true;
            });
        LOG.info("The program of leader {} is over", leader.fence());
      } catch (Exception | Error e) {
        if (over || !leader.isHeld()) {
          LOG.debug("The program of leader {} ends with its lead", leader.fence(), e);
        } else {
          LOG.warn("The program of leader {} failed, and will be run again", leader.fence(), e);
          againMillis = seat.station().now() + seat.station().terms().lease().toMillis();
        }
      }
    }
  }
}
