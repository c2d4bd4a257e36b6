package io.millrace.jobs.worker;

import io.millrace.blobs.BlobStore;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Report;
import io.millrace.jobs.Settled;
import io.millrace.store.TaskStore;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Where workers work: who is there, who is ready, which jobs are in whose hands, and what happens
 * to them, whoever causes it. Its monitor guards it with all its parts and is never held during
 * I/O; where a method does not take it, the caller holds it.
 */
final class Floor {
  private final WorkerOptions options;
  private final InstantSource clock;
  private final LongSupplier nanos;
  private final Intake intake;
  private final Roster roster;
  private final Seats seats = new Seats();
  private final Hands hands = new Hands();
  private final Reports reports;
  private final Vigil vigil;
  private volatile Runnable wake = () -> {};
  private volatile boolean used;

  Floor(
      WorkerOptions options,
      TaskStore store,
      BlobStore blobs,
      InstantSource clock,
      LongSupplier nanos) {
    this.options = options;
    this.clock = clock;
    this.nanos = nanos;
    this.intake = new Intake(blobs);
    this.roster = new Roster(store, options.tracking());
    this.reports = new Reports(roster);
    this.vigil = new Vigil(this, options);
  }

  /** Sets what is called when there is something to do. */
  void wakeBy(Runnable call) {
    wake = call;
    call.run();
  }

  long nanos() {
    return nanos.getAsLong();
  }

  long millis() {
    return clock.millis();
  }

  Intake intake() {
    return intake;
  }

  Roster roster() {
    return roster;
  }

  Seats seats() {
    return seats;
  }

  Hands hands() {
    return hands;
  }

  Reports reports() {
    return reports;
  }

  boolean isRight(Registration who) {
    return options.token().test(who.token());
  }

  /** Whether any worker has come yet. */
  boolean isUsed() {
    return used;
  }

  /** Somebody has connected, and has to register in time. */
  synchronized Post open(String type, WorkerLink link, boolean polled) {
    Post post = new Post(type, link, polled, nanos(), millis());
    roster.add(post);
    used = true;
    lookBy(nanos() + options.registration().toNanos());
    return post;
  }

  private void lookBy(long dueNanos) {
    if (vigil.lookBy(dueNanos)) {
      wake.run();
    }
  }

  /** Does what time asks for. */
  long step(long nowNanos) {
    return vigil.step(roster, nowNanos);
  }

  void register(Post post, Registration who) {
    post.register(who);
    roster.registered(post, who);
    if (post.polled()) {
      post.say(Post.Said.READY);
    } else {
      post.ask(nanos());
    }
    review(post);
  }

  void heard(Post post) {
    post.heard(nanos(), millis());
  }

  /** Whether a worker has room may have changed. */
  void review(Post post) {
    if (seats.review(post)) {
      wake.run();
    }
  }

  /** A seat is given back: there is no job for it now. */
  void leave(Post post) {
    post.leave();
    if (post.looksOnce()) {
      end(post, CloseCode.NORMAL, "there is no job");
      // There may be more of them than seats were reserved.
      wake.run();
    } else {
      review(post);
    }
  }

  /** A worker gets a job, in a seat that it has left; where it has gone, a report returns it. */
  void hand(Post post, Assignment assignment) {
    if (post.closed()) {
      report(post, new Report.Returned(assignment, null));
      return;
    }
    Held held = new Held(post, assignment, nanos());
    post.jobs().put(held.id(), held);
    hands.add(held);
    review(post);
    lookBy(nanos() + options.stuckAfter().toNanos());
    post.send(assignment);
    reports.begun(assignment, millis());
  }

  /** A worker says how far a job is, which is a sign of life too. */
  void advance(Held held, Progress progress) {
    held.advance(progress, nanos());
    hands.advanced(held);
  }

  /** How an attempt has ended, for the registry. */
  void report(Post post, Report report) {
    reports.add(post, report);
    wake.run();
  }

  /** How an attempt has ended of which its worker knows nothing. */
  void reportUnheard(Report report) {
    reports.addUnheard(report);
    wake.run();
  }

  /** The payload of a job is not there: it has failed, of which its worker knows nothing. */
  void missing(Held held) {
    if (held.counts()) {
      held.finish();
      Failure failure = new Failure(null, millis(), "its payload is not there", null);
      reportUnheard(new Report.Failed(held.assignment(), failure));
    }
    forget(held);
  }

  /** A job has not come to its worker, and will not. */
  void forget(Held held) {
    free(held);
    held.post().jobs().remove(held.id());
    review(held.post());
  }

  /** A job is taken from a worker that seems to be stuck, which counts as a failure. */
  void takeBack(Held held, String reason) {
    Failure failure = new Failure(held.assignment().worker(), millis(), reason, null);
    report(held.post(), new Report.Failed(held.assignment(), failure));
    lose(held, reason);
  }

  /**
   * A job is the worker's no more. One that would not understand is told once it says something of
   * the job.
   */
  void lose(Held held, String reason) {
    held.lose();
    Post post = held.post();
    if (post.told() && !post.closed()) {
      post.link().say(ServerMessages.refused(held.assignment(), reason));
    }
    free(held);
  }

  /** A job is out of its worker's hands. One that asks over HTTP is there for one job. */
  void free(Held held) {
    hands.remove(held);
    if (held.post().polled()) {
      gone(held.post(), null);
    }
  }

  /** An attempt of a worker that asks over HTTP has ended. */
  void concluded(Held held, Report report, Settled outcome) {
    reports.settled(held.post(), report, outcome);
    free(held);
  }

  /** Nobody knows whether an attempt's end was stored; if not, its job is offered again. */
  void unsettled(Held held, String reason) {
    report(held.post(), new Report.Returned(held.assignment(), reason));
    free(held);
  }

  /** Ends a connection. */
  void end(Post post, int code, String reason) {
    post.link().close(code, reason);
    gone(post, "the server closed its connection: " + reason);
  }

  /**
   * A connection is over: what its worker has in hand is offered again.
   *
   * @param fault how it ended, when a job that the worker had counts as returned; null when nobody
   *     is to blame
   */
  void gone(Post post, @Nullable String fault) {
    if (!roster.remove(post)) {
      return;
    }
    for (Held held : post.jobs().values()) {
      if (held.counts()) {
        boolean had = post.polled() || held.wasSent();
        report(post, new Report.Returned(held.assignment(), had ? fault : null));
      }
      hands.remove(held);
    }
    post.jobs().clear();
    post.close();
    review(post);
    roster.remember(post);
  }
}
