package io.millrace.jobs.worker;

import java.time.Duration;

/** What time asks of a worker's connection. Guarded by the lock of the floor. */
final class Vigil {
  /** How long a worker may take to answer, and how often one that is busy is asked. */
  private static final long ANSWER_NANOS = Duration.ofSeconds(10).toNanos();

  private static final int SILENT_KEEPALIVES = 3;

  /** Something is due for thousands of workers all the time: for each, looking waits so long. */
  private static final long LOOK_NANOS = 20_000;

  private final Floor floor;
  private final WorkerOptions options;
  private final long stuckNanos;
  private final long keepaliveNanos;
  private final long answerNanos;
  private long nextNanos = Long.MIN_VALUE;

  Vigil(Floor floor, WorkerOptions options) {
    this.floor = floor;
    this.options = options;
    this.stuckNanos = options.stuckAfter().toNanos();
    this.keepaliveNanos = options.keepalive().toNanos();
    this.answerNanos = Math.min(ANSWER_NANOS, stuckNanos);
  }

  /** Something may be due then; says whether that is earlier than what was known. */
  boolean lookBy(long dueNanos) {
    if (nextNanos == Long.MIN_VALUE || dueNanos - nextNanos < 0) {
      nextNanos = dueNanos;
      return true;
    }
    return false;
  }

  /** Does what is due, and says in how many nanoseconds to come again. */
  long step(Roster roster, long now) {
    if (nextNanos != Long.MIN_VALUE && now - nextNanos >= 0) {
      long next = now + keepaliveNanos;
      for (Post post : roster.posts()) {
        long due = look(post, now);
        if (due != Long.MAX_VALUE && due - next < 0) {
          next = due;
        }
      }
      long earliest = now + LOOK_NANOS * roster.size();
      nextNanos = roster.isEmpty() ? Long.MIN_VALUE : next - earliest < 0 ? earliest : next;
    }
    return nextNanos == Long.MIN_VALUE ? keepaliveNanos : nextNanos - now;
  }

  /** Does what is due for one, and says when to look again; the largest number for never. */
  private long look(Post post, long now) {
    if (post.registration() == null) {
      return lookAtStranger(post, now);
    }
    long next = Long.MAX_VALUE;
    for (Held held : post.jobs().values().toArray(Held[]::new)) {
      if (held.counts()) {
        next = Math.min(next, lookAt(post, held, now));
      }
    }
    return post.polled() ? next : Math.min(next, lookAtLine(post, now));
  }

  private long lookAtStranger(Post post, long now) {
    long due = post.openedNanos() + options.registration().toNanos();
    if (now - due < 0) {
      return due;
    }
    String reason =
        post.rejected()
            ? "the token is wrong"
            : "no registration came within " + options.registration().toMillis() + " ms";
    floor.end(post, CloseCode.NOT_ALLOWED, reason);
    return Long.MAX_VALUE;
  }

  private long lookAt(Post post, Held held, long now) {
    long stuck = held.signNanos() + stuckNanos;
    if (now - stuck < 0) {
      return stuck;
    }
    if (!post.polled()) {
      if (!held.asked()) {
        held.ask(now);
        post.ask(now);
      }
      long late = held.askedNanos() + answerNanos;
      if (now - late < 0) {
        return late;
      }
    }
    Duration silent = Duration.ofNanos(now - held.signNanos());
    floor.takeBack(
        held, "its worker gave no sign of working on it for " + silent.toSeconds() + " s");
    return Long.MAX_VALUE;
  }

  private long lookAtLine(Post post, long now) {
    // A worker may block while it works: how long it may, its job decides.
    boolean working = !post.assignments().isEmpty();
    long silent = post.heardNanos() + SILENT_KEEPALIVES * keepaliveNanos;
    if (!working && now - silent >= 0) {
      floor.end(post, CloseCode.NOT_ALLOWED, "there was no sign of life, not even a pong");
      return Long.MAX_VALUE;
    }
    if (now - post.pingedNanos() >= keepaliveNanos) {
      post.ping(now);
    }
    long pinged = post.pingedNanos() + keepaliveNanos;
    long next = working ? pinged : Math.min(silent, pinged);
    if (post.said() == Post.Said.READY && post.jobs().values().stream().allMatch(Held::counts)) {
      return next;
    }
    // It is unsure whether this one could work.
    if (now - post.askedNanos() >= answerNanos && !working) {
      post.ask(now);
    }
    return Math.min(next, Math.max(now, post.askedNanos()) + answerNanos);
  }
}
