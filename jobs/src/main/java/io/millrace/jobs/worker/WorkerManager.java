package io.millrace.jobs.worker;

import io.millrace.blobs.BlobStore;
import io.millrace.jobs.Assignment;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobChange;
import io.millrace.jobs.JobId;
import io.millrace.jobs.Report;
import io.millrace.jobs.Settled;
import io.millrace.jobs.WorkerId;
import io.millrace.store.TaskStore;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The workers that are connected, and those that were: who they are, what they said last, and which
 * jobs they have in hand. What happens among them is the floor's; this is how others see it.
 */
public final class WorkerManager implements Workers, Crew {
  private final Floor floor;

  /**
   * Without workers yet.
   *
   * @param store where it is kept what workers have done, and when they were last there
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
    this.floor = new Floor(options, store, blobs, clock, nanos);
  }

  Floor floor() {
    return floor;
  }

  /** Whether any worker has come yet. */
  public boolean isUsed() {
    return floor.isUsed();
  }

  /** Lists the workers that were there before the server started; called before any comes. */
  public void recall() {
    List<WorkerView> before = floor.roster().history().stored();
    synchronized (floor) {
      floor.roster().history().list(before);
    }
  }

  /**
   * Stores what workers have done, and when they were last there.
   *
   * @param exactly whether the last signs of life of connected workers are stored as they are; they
   *     lag by up to a minute otherwise
   */
  public void save(boolean exactly) {
    List<WorkerView> connected;
    synchronized (floor) {
      connected = floor.roster().connected();
    }
    floor.roster().history().save(connected, exactly);
  }

  @Override
  public WorkerConnection connect(String type, WorkerLink link) {
    return new Conversation(floor, floor.open(type, link, false));
  }

  @Override
  public List<WorkerView> list() {
    synchronized (floor) {
      return floor.roster().list();
    }
  }

  @Override
  public Optional<WorkerView> find(String id) {
    Optional<WorkerView> listed;
    synchronized (floor) {
      listed = floor.roster().find(id);
    }
    return listed.or(() -> floor.roster().history().stored(id));
  }

  @Override
  public Optional<Progress> progress(JobId job) {
    synchronized (floor) {
      return floor.hands().progress(job);
    }
  }

  @Override
  public Advances advances(long after) {
    synchronized (floor) {
      return floor.hands().since(after);
    }
  }

  /** How many workers that are connected and have registered are in this state. */
  public int count(WorkerState state) {
    synchronized (floor) {
      return floor.roster().count(state);
    }
  }

  /** Sets who hears what becomes of jobs; nobody at first. */
  public void observeBy(JobObserver observer) {
    synchronized (floor) {
      floor.reports().observeBy(observer);
    }
  }

  @Override
  public void wakeBy(Runnable call) {
    floor.wakeBy(call);
  }

  @Override
  public List<Report> takeReports() {
    synchronized (floor) {
      return floor.reports().take();
    }
  }

  @Override
  public void settled(Report report, Settled outcome) {
    synchronized (floor) {
      floor.reports().settled(report, outcome);
    }
  }

  @Override
  public Set<String> readyTypes() {
    synchronized (floor) {
      return floor.seats().types();
    }
  }

  @Override
  public boolean isAsked(String type) {
    synchronized (floor) {
      return floor.seats().isAsked(type);
    }
  }

  @Override
  public List<Seat> reserve(String type, int most, Predicate<WorkerId> wanted) {
    synchronized (floor) {
      return floor.seats().reserve(type, most, wanted);
    }
  }

  @Override
  public void give(Seat seat, Assignment assignment) {
    synchronized (floor) {
      Post post = Seats.post(seat);
      post.leave();
      floor.hand(post, assignment);
    }
  }

  @Override
  public void leave(Collection<Seat> seats) {
    synchronized (floor) {
      for (Seat seat : seats) {
        floor.leave(Seats.post(seat));
      }
    }
  }

  @Override
  public List<Assignment> inHand() {
    synchronized (floor) {
      return floor.hands().counting();
    }
  }

  @Override
  public void lost(Collection<Assignment> assignments) {
    synchronized (floor) {
      for (Assignment assignment : assignments) {
        Held held = floor.hands().find(assignment);
        if (held != null) {
          floor.lose(held, Conversation.LATE);
        }
      }
    }
  }

  @Override
  public void changed(JobChange change) {
    synchronized (floor) {
      Held held = floor.hands().find(change.id());
      if (held == null || !held.counts()) {
        return;
      }
      Assignment mine = held.assignment();
      Job now = change.present();
      boolean older = now != null && now.place().version() <= mine.job().place().version();
      if (!older && (now == null || !mine.claim().equals(now.hand().claim()))) {
        floor.lose(held, Conversation.LATE);
      }
    }
  }

  @Override
  public long step(long nowNanos) {
    synchronized (floor) {
      return floor.step(nowNanos);
    }
  }
}
