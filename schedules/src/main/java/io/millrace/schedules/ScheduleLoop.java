package io.millrace.schedules;

import io.millrace.store.Commit;
import io.millrace.store.Subscription.Interest;
import io.millrace.store.TaskStore;
import io.millrace.work.StepLoop;
import io.millrace.work.Subscriber;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Drives the {@link ScheduleRunner} of a server: a thread that steps it at the time of day, and
 * subscriptions that wake it. Runs are followed only while some are active, so that the work of a
 * server without schedules costs nothing here.
 */
final class ScheduleLoop implements Schedules.Running {
  private final TaskStore store;
  private final ScheduleRunner runner;
  private final Set<String> runCollections = new HashSet<>();
  private final StepLoop loop;
  private final Subscriber schedules;
  private @Nullable Subscriber runs;

  private ScheduleLoop(ScheduleSession session, ScheduleRunner runner, InstantSource clock) {
    this.store = session.store();
    this.runner = runner;
    session.targets().forEach(target -> runCollections.add(target.collection()));
    loop = new StepLoop(Thread.ofVirtual().name("schedules"), clock, this::step);
    schedules =
        follow(
            "schedule-changes",
            Set.of(ScheduleSession.FORMS, ScheduleSession.STATES),
            runner::lookAgain);
  }

  static ScheduleLoop start(ScheduleSession session, ScheduleRunner runner, InstantSource clock) {
    ScheduleLoop started = new ScheduleLoop(session, runner, clock);
    var _ = started.loop.start();
    return started;
  }

  private Subscriber follow(String name, Set<String> collections, Runnable opened) {
    Subscriber.Listener listener =
        new Subscriber.Listener() {
          @Override
          public void opened() {
            opened.run();
            loop.wake();
          }

          @Override
          public void committed(Commit commit) {
            runner.changed(commit);
            if (runner.hasChanges()) {
              loop.wake();
            }
          }
        };
    return Subscriber.start(name, store, new Interest(null, Set.of(), collections), listener);
  }

  private Instant step(Instant now) {
    Instant due = runner.step(now);
    if (runner.hasRuns() && runs == null) {
      runs = follow("schedule-runs", runCollections, runner::lookAtRuns);
    } else if (!runner.hasRuns() && runs != null) {
      runs.close();
      runs = null;
    }
    return runner.hasChanges() ? now : due;
  }

  @Override
  public void close() {
    schedules.close();
    loop.close();
    Subscriber last = runs;
    if (last != null) {
      last.close();
    }
  }
}
