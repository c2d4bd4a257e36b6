package io.millrace.jobs.registry;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.jobs.Assignment;
import io.millrace.jobs.Assignment.JobClaim;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobRegistry.JobFilter;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.JobStateException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Report;
import io.millrace.jobs.Report.Settled;
import io.millrace.jobs.Submission;
import io.millrace.jobs.WorkerId;
import io.millrace.store.Claim;
import io.millrace.store.OutcomeUnknownException;
import io.millrace.store.Owner;
import io.millrace.store.StoreClosedException;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random operations against a model, over a line that breaks and a store that restarts. */
class JobsPropertyTest {
  private static final int STEPS = 400;
  private static final int MAX_JOBS = 30;
  private static final Jobs.Options OPTIONS =
      new Jobs.Options(4, JobsModel.MAX_FAILURES, 5, Duration.ofDays(1));

  private final JobsModel model = new JobsModel();
  private final List<Assignment> everGiven = new ArrayList<>();
  private Random random = new Random(0);
  private final EmbeddedFixture store = new EmbeddedFixture(1);
  private final JobsFixture world;
  private boolean trouble;
  private boolean broken;

  JobsPropertyTest(@TempDir Path folder) {
    world = new JobsFixture(store, folder, JobsFixture.CHAIN, OPTIONS);
  }

  @AfterEach
  void end() {
    store.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void the_registry_holds_what_the_model_holds(long seed) {
    random = new Random(seed);
    world.breakLine(this::breaks);
    try {
      for (int i = 0; i < STEPS; i++) {
        step();
        model.check(world.registry(), store.store());
      }
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
    }
  }

  private boolean breaks() {
    boolean now = trouble && random.nextInt(6) == 0;
    broken |= now;
    return now;
  }

  /** Does something over a bad line, and again until the answer came. */
  private <T> T insist(Supplier<T> call) {
    broken = false;
    trouble = random.nextInt(3) == 0;
    try {
      return call.get();
    } catch (StoreClosedException | OutcomeUnknownException _) {
      trouble = false;
      return call.get();
    } finally {
      trouble = false;
    }
  }

  private void step() {
    switch (random.nextInt(13)) {
      case 0, 1, 2 -> submit();
      case 3, 4, 5 -> assign();
      case 6, 7, 8 -> settle();
      case 9 -> change();
      case 10 -> renew();
      case 11 -> changeUnderAClaim();
      default -> {
        if (random.nextInt(3) == 0) {
          restart();
        }
        world.advance(Duration.ofSeconds(random.nextInt(5)));
      }
    }
  }

  private void submit() {
    if (model.jobs.size() >= MAX_JOBS) {
      return;
    }
    String key = random.nextBoolean() ? null : "key" + random.nextInt(20);
    Priority priority = random.nextBoolean() ? Priority.BATCH : Priority.IMMEDIATE;
    Submission order =
        new Submission(random.nextBoolean() ? "first" : "second", priority, key, null);
    boolean taken = model.isTaken(key);
    JobId id = world.registry().newId();
    var payload = world.keep(JobRegistry.payloadName(id), "p" + id);
    try {
      model.submitted(insist(() -> world.registry().submit(id, order, payload)));
      assertThat(taken).isFalse();
    } catch (InvalidJobException _) {
      assertThat(taken).isTrue();
    }
  }

  private void assign() {
    String type = random.nextBoolean() ? "first" : "second";
    WorkerId worker = new WorkerId("w" + random.nextInt(3));
    List<WorkerId> ready = Collections.nCopies(random.nextInt(1, 4), worker);
    long expected = model.assignable(type, ready);
    List<Assignment> given = insist(() -> world.registry().assign(type, ready));
    if (broken) {
      // The first call may have assigned some without telling; claims without record run out.
      for (Job job : world.registry().list(JobFilter.ALL, null, 100)) {
        JobsModel.Known known = Objects.requireNonNull(model.jobs.get(job.id()));
        JobClaim claim = job.hand().claim();
        if (claim != null && known.status == JobStatus.PENDING) {
          model.assigned(job);
          everGiven.add(new Assignment(job, worker, claim));
        }
      }
      world.advance(Duration.ofSeconds(11));
      return;
    }
    assertThat(given).hasSize((int) expected);
    given.forEach(each -> model.assigned(each.job()));
    everGiven.addAll(given);
  }

  private void settle() {
    List<Report> reports = new ArrayList<>();
    for (int i = random.nextInt(3); i >= 0 && !everGiven.isEmpty(); i--) {
      int from = Math.max(0, everGiven.size() - 12);
      Assignment assignment = everGiven.get(random.nextInt(from, everGiven.size()));
      reports.add(
          switch (random.nextInt(3)) {
            case 0 -> world.completed(assignment, "r");
            case 1 -> world.failed(assignment);
            default -> new Report.Returned(assignment, null);
          });
    }
    List<Settled> settled = insist(() -> world.registry().settle(reports));
    for (int i = 0; i < reports.size(); i++) {
      boolean accepted = settled.get(i) instanceof Settled.Accepted;
      assertThat(accepted).isEqualTo(model.settle(reports.get(i)));
      if (settled.get(i) instanceof Settled.Accepted(Job job) && job.line().child() != null) {
        // Where the report was repeated, the child may have been deleted since.
        world.registry().find(job.line().child().toString()).ifPresent(model::submitted);
      }
    }
  }

  private void change() {
    List<JobId> ids = new ArrayList<>(model.jobs.keySet());
    if (ids.isEmpty()) {
      return;
    }
    JobId id = ids.get(random.nextInt(ids.size()));
    JobsModel.Known known = Objects.requireNonNull(model.jobs.get(id));
    switch (random.nextInt(3)) {
      case 0 -> {
        insist(() -> world.registry().delete(id.toString()));
        model.jobs.remove(id);
      }
      case 1 -> {
        if (!known.status.isEnd()) {
          tolerant(() -> world.registry().cancel(id.toString()));
          known.history++;
          known.end(JobStatus.FAILED);
        }
      }
      default -> {
        if (known.status == JobStatus.FAILED) {
          tolerant(() -> world.registry().retry(id.toString()));
          known.end(JobStatus.PENDING);
          known.failures = 0;
          known.lastFailedOn = null;
        }
      }
    }
  }

  /** Somebody claims jobs and dies before that is on record; meanwhile a user changes some. */
  private void changeUnderAClaim() {
    for (GroupSummary group : store.store().groups().value()) {
      store
          .store()
          .claim(Claim.of(Owner.client(7), group.name(), Duration.ofSeconds(10)).withCount(2));
    }
    change();
    change();
    model.check(world.registry(), store.store());
    world.advance(Duration.ofSeconds(10));
  }

  /** The second call finds what the first has done. */
  private void tolerant(Supplier<?> call) {
    try {
      insist(call);
    } catch (JobStateException _) {
      assertThat(broken).isTrue();
    }
  }

  private void renew() {
    List<Assignment> lost = insist(() -> world.registry().renew(everGiven));
    for (Assignment each : everGiven) {
      JobsModel.Known known = model.jobs.get(each.job().id());
      boolean alive = known != null && each.claim().equals(known.claim);
      assertThat(lost.contains(each)).isEqualTo(!alive);
    }
  }

  private void restart() {
    world.restart();
    world.breakLine(this::breaks);
    int returned = insist(() -> world.registry().returnAll());
    int expected = model.returnAll();
    if (!broken) {
      assertThat(returned).isEqualTo(expected);
    }
  }
}
