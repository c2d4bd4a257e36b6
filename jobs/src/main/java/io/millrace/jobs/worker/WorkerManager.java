package io.millrace.jobs.worker;

import io.millrace.blobs.BlobStore;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Failure;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.Report;
import io.millrace.jobs.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.jobs.worker.WorkerView.Tally;
import io.millrace.store.TaskStore;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The workers that are connected, and those that were: who they are, what they said last, and which
 * jobs they have in hand. Its lock is never held during I/O.
 */
public final class WorkerManager implements Workers, Crew {
  private final WorkerOptions options;
  private final InstantSource clock;
  private final LongSupplier nanos;
  private final Intake intake;
  private final Tallies tallies;
  private final Vigil vigil;
  private final Set<Post> posts = new LinkedHashSet<>();
  private final Map<String, LinkedHashSet<Post>> ready = new HashMap<>();
  private final Map<JobId, Held> hands = new HashMap<>();
  private final IdentityHashMap<Report, Post> reporters = new IdentityHashMap<>();
  private final Departed departed = new Departed();
  private Deque<Report> reports = new ArrayDeque<>();
  private volatile Runnable wake = () -> {};
  private volatile boolean used;
  private long nextLook = Long.MIN_VALUE;

  /**
   * Without workers yet.
   *
   * @param store where the tallies of workers are kept
   * @param blobs where results are kept
   * @param clock tells the times that people see
   * @param nanos a clock that never goes back, as {@link System#nanoTime}
   */
  public WorkerManager(
      WorkerOptions options,
      TaskStore store,
      BlobStore blobs,
      InstantSource clock,
      LongSupplier nanos) {
    this.options = options;
    this.clock = clock;
    this.nanos = nanos;
    this.intake = new Intake(blobs);
    this.tallies = new Tallies(new StoredTallies(store));
    this.vigil = new Vigil(this, options);
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

  Tallies tallies() {
    return tallies;
  }

  boolean isRight(Registration who) {
    return options.token().test(who.token());
  }

  /** Whether any worker has come yet. */
  public boolean isUsed() {
    return used;
  }

  /** Stores what workers have done since the last time. */
  public void saveTallies() {
    if (options.tracking()) {
      tallies.save();
    }
  }

  @Override
  public WorkerConnection connect(String type, WorkerLink link) {
    return new Conversation(this, open(type, link, false));
  }

  synchronized Post open(String type, WorkerLink link, boolean polled) {
    Post post = new Post(type, link, polled, nanos(), millis());
    posts.add(post);
    used = true;
    lookBy(nanos() + options.registration().toNanos());
    return post;
  }

  private void lookBy(long due) {
    if (nextLook == Long.MIN_VALUE || due - nextLook < 0) {
      nextLook = due;
      wake.run();
    }
  }

  void register(Post post, Registration who) {
    post.register(who);
    departed.remove(who.id());
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

  /** Whether a worker is ready may have changed. */
  void review(Post post) {
    LinkedHashSet<Post> seats = ready.computeIfAbsent(post.type(), _ -> new LinkedHashSet<>());
    if (post.room() > 0) {
      if (seats.add(post)) {
        wake.run();
      }
    } else {
      seats.remove(post);
      if (seats.isEmpty()) {
        ready.remove(post.type());
      }
    }
  }

  void report(Post post, Report report) {
    reports.add(report);
    reporters.put(report, post);
    wake.run();
  }

  void takeBack(Post post, Held held, String reason) {
    lose(held, reason);
    hands.remove(held.assignment().job().id(), held);
    Failure failure = new Failure(held.assignment().worker(), millis(), reason, null);
    report(post, new Report.Failed(held.assignment(), failure));
    endPolled(post);
  }

  /** A worker that would not understand is told once it says something of the job. */
  private static void lose(Held held, String reason) {
    held.lose();
    Post post = held.post();
    if (post.told() && !post.closed()) {
      post.link().say(ServerMessages.refused(held.assignment(), reason));
    }
  }

  void freed(Held held) {
    hands.remove(held.assignment().job().id(), held);
  }

  /** Ends a connection. */
  void end(Post post, int code, String reason) {
    post.link().close(code, reason);
    gone(post);
  }

  /** A connection is over: what its worker has in hand is offered again. */
  void gone(Post post) {
    if (!posts.remove(post)) {
      return;
    }
    for (Assignment assignment : post.assignments()) {
      report(post, new Report.Returned(assignment));
      hands.remove(assignment.job().id());
    }
    post.jobs().clear();
    post.close();
    review(post);
    Registration who = post.registration();
    if (who != null) {
      departed.add(post.view(who, tally(post, who)));
    }
  }

  private Tally tally(Post post, Registration who) {
    return options.tracking() ? tallies.of(who.id()) : post.tally();
  }

  @Override
  public synchronized List<WorkerView> list() {
    List<WorkerView> views = new ArrayList<>();
    for (Post post : posts) {
      Registration who = post.registration();
      if (who != null) {
        views.add(post.view(who, tally(post, who)));
      }
    }
    views.addAll(departed.all());
    return views;
  }

  @Override
  public synchronized Optional<WorkerView> find(String id) {
    return list().stream().filter(view -> view.id().text().equals(id)).findFirst();
  }

  @Override
  public synchronized Optional<Progress> progress(JobId job) {
    return Optional.ofNullable(hands.get(job)).map(Held::progress);
  }

  synchronized @Nullable Held held(JobId job) {
    return hands.get(job);
  }

  @Override
  public void wakeBy(Runnable call) {
    wake = call;
    call.run();
  }

  @Override
  public synchronized List<Report> takeReports() {
    Deque<Report> taken = reports;
    reports = new ArrayDeque<>();
    return List.copyOf(taken);
  }

  @Override
  public synchronized void settled(Report report, Settled outcome) {
    Post post = reporters.remove(report);
    if (post == null) {
      return;
    }
    switch (outcome) {
      case Settled.Accepted _ -> count(post, report);
      case Settled.Refused(String reason) -> {
        if (!post.closed()) {
          post.link().say(ServerMessages.refused(report.assignment(), reason));
        }
      }
    }
  }

  /** An attempt of a worker that asks over HTTP has ended. */
  void concluded(Held held, Report report, Settled outcome) {
    if (outcome instanceof Settled.Accepted) {
      count(held.post(), report);
    }
    freed(held);
    endPolled(held.post());
  }

  /** Nobody knows whether an attempt's end was stored; if not, its job is offered again. */
  void unsettled(Held held) {
    report(held.post(), new Report.Returned(held.assignment()));
    freed(held);
    endPolled(held.post());
  }

  /** A worker that asks over HTTP is there for one job. */
  private void endPolled(Post post) {
    if (post.polled()) {
      gone(post);
    }
  }

  private void count(Post post, Report report) {
    Tally more =
        switch (report) {
          case Report.Completed _ -> Tally.SUCCESS;
          case Report.Failed _ -> Tally.FAILURE;
          case Report.Returned _ -> Tally.NONE;
        };
    post.count(more);
    if (options.tracking() && !more.equals(Tally.NONE)) {
      tallies.count(report.assignment().worker(), more);
    }
  }

  @Override
  public synchronized Set<String> readyTypes() {
    return Set.copyOf(ready.keySet());
  }

  /** A place of one worker. */
  private record Place(Post post, WorkerId worker) implements Seat {}

  @Override
  public synchronized List<Seat> reserve(String type, int most, Predicate<WorkerId> wanted) {
    List<Seat> seats = new ArrayList<>();
    for (Post post : List.copyOf(ready.getOrDefault(type, new LinkedHashSet<>()))) {
      Registration who = post.registration();
      if (who == null || !wanted.test(who.id())) {
        continue;
      }
      while (post.room() > 0 && seats.size() < most) {
        post.reserve();
        seats.add(new Place(post, who.id()));
      }
      review(post);
      if (seats.size() == most) {
        break;
      }
    }
    return seats;
  }

  @Override
  public synchronized void give(Seat seat, Assignment assignment) {
    Post post = ((Place) seat).post();
    post.leave();
    if (post.closed()) {
      report(post, new Report.Returned(assignment));
      return;
    }
    Held held = new Held(post, assignment, nanos());
    post.jobs().put(assignment.job().id(), held);
    hands.put(assignment.job().id(), held);
    review(post);
    lookBy(nanos() + options.stuckAfter().toNanos());
    if (post.link() instanceof PolledLink polled) {
      polled.give(assignment);
    } else {
      post.link().send(assignment.job(), post.told() ? ServerMessages.announce(assignment) : null);
    }
  }

  @Override
  public synchronized void leave(Collection<Seat> seats) {
    for (Seat seat : seats) {
      Post post = ((Place) seat).post();
      post.leave();
      review(post);
    }
  }

  @Override
  public synchronized List<Assignment> inHand() {
    return hands.values().stream().filter(Held::counts).map(Held::assignment).toList();
  }

  @Override
  public synchronized void lost(Collection<Assignment> assignments) {
    for (Assignment assignment : assignments) {
      Held held = hands.get(assignment.job().id());
      if (held != null && held.assignment().claim().equals(assignment.claim())) {
        lose(held, Conversation.LATE);
        freed(held);
        endPolled(held.post());
      }
    }
  }

  @Override
  public synchronized void changed(JobChange change) {
    Held held = hands.get(change.id());
    if (held == null) {
      return;
    }
    Assignment mine = held.assignment();
    Job now = change.present();
    boolean older = now != null && now.place().version() <= mine.job().place().version();
    if (!older && (now == null || !mine.claim().equals(now.hand().claim()))) {
      lost(List.of(mine));
    }
  }

  @Override
  public synchronized long step(long nowNanos) {
    if (nextLook != Long.MIN_VALUE && nowNanos - nextLook >= 0) {
      long next = nowNanos + options.keepalive().toNanos();
      for (Post post : List.copyOf(posts)) {
        long due = vigil.look(post, nowNanos);
        if (due != Long.MAX_VALUE && due - next < 0) {
          next = due;
        }
      }
      nextLook = posts.isEmpty() ? Long.MIN_VALUE : next;
    }
    return nextLook == Long.MIN_VALUE ? options.keepalive().toNanos() : nextLook - nowNanos;
  }
}
