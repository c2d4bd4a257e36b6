package io.millrace.jobs.registry;

import io.millrace.jobs.Job;
import io.millrace.jobs.JobStatus;
import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.Priority;
import io.millrace.store.Document;
import io.millrace.store.Outcome;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkOrder;
import io.millrace.work.bulk.BulkProgress.Skip;
import io.millrace.work.bulk.BulkTarget;
import io.millrace.work.filter.FieldPath;
import io.millrace.work.filter.Filter;
import io.millrace.work.filter.FilterException;
import io.millrace.work.filter.FilterFields;
import io.millrace.work.filter.Subject;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Bulk actions on jobs, in the order of their GUIDs. */
final class BulkJobs implements BulkTarget<BulkJobs.JobItem> {
  /** How many jobs a page looks at before it ends without being full. */
  private static final int MAX_LOOKED_AT = 20_000;

  private static final List<String> FIELDS =
      List.of(
          "id",
          "key",
          "type",
          "status",
          "priority",
          "batch",
          "worker",
          "submitted",
          "started",
          "ended",
          "failures",
          "returns",
          "tags");

  private static final Set<String> TIMES = Set.of("submitted", "started", "ended");

  private static final String TYPE = "type";
  private static final String RUNS = "a worker has it";

  private final JobStore store;
  private final JobTypes types;
  private final TypeSettings settings;
  private final Groups groups;

  BulkJobs(JobStore store, JobTypes types, TypeSettings settings, Groups groups) {
    this.store = store;
    this.types = types;
    this.settings = settings;
    this.groups = groups;
  }

  @Override
  public String kind() {
    return "jobs";
  }

  @Override
  public List<String> actions() {
    return List.of("retry", "cancel", "delete", "move");
  }

  @Override
  public BulkOrder prepare(BulkOrder order) {
    boolean moves = order.action().equals("move");
    BulkTarget.checkOptions(order, moves ? Set.of(TYPE) : Set.of());
    var _ = filter(order);
    if (moves) {
      String to = destination(order);
      if (choosesOnly(order.filter(), to)) {
        throw new InvalidBulkException("the jobs that the filter chooses are of type " + to);
      }
    }
    return order;
  }

  /** The type to which jobs are moved. */
  private String destination(BulkOrder order) {
    String to = order.options().get(TYPE);
    if (to == null) {
      throw new InvalidBulkException("the action move needs the option " + TYPE);
    }
    if (order.reach() == null) {
      try {
        types.require(to);
      } catch (InvalidJobException e) {
        throw new InvalidBulkException(String.valueOf(e.getMessage()));
      }
    } else if (types.find(to).isEmpty() || !isReached(order.reach(), to)) {
      throw new InvalidBulkException("there is no job type " + to);
    }
    return to;
  }

  private static boolean isReached(@Nullable Set<String> reach, String type) {
    return reach == null || reach.stream().anyMatch(type::startsWith);
  }

  /** Whether a filter says that all jobs are of this type. */
  private static boolean choosesOnly(JsonNode filter, String type) {
    JsonNode condition = filter.path(TYPE);
    JsonNode names = condition.path("$in");
    return condition.asString("").equals(type)
        || condition.path("$eq").asString("").equals(type)
        || (names.size() == 1 && names.get(0).asString("").equals(type))
        || filter.path("$and").valueStream().anyMatch(each -> choosesOnly(each, type));
  }

  private static Filter filter(BulkOrder order) {
    return Filter.read(order.filter(), new Fields());
  }

  /** The fields of jobs, with the names that parameters of the list have. */
  private static final class Fields implements FilterFields {
    @Override
    public void check(FieldPath path) {
      FilterFields.checkKnown("jobs", path, FIELDS);
    }

    @Override
    public JsonNode value(String field, JsonNode value) {
      if (TIMES.contains(field)) {
        return FilterFields.time(value);
      }
      if (value.isString() && field.equals("status")) {
        checkWord(
            field, value, JobStatus.named(value.asString()), "pending, running, done or failed");
      }
      if (value.isString() && field.equals("priority")) {
        checkWord(field, value, Priority.named(value.asString()), "immediate or batch");
      }
      return value;
    }

    private static void checkWord(String field, JsonNode value, Optional<?> known, String words) {
      if (known.isEmpty()) {
        throw new FilterException(field + " is " + words + ", not " + value);
      }
    }
  }

  private static Subject subject(Job job) {
    return name -> field(job, name);
  }

  private static @Nullable JsonNode field(Job job, String name) {
    JsonNodeFactory json = JsonNodeFactory.instance;
    return switch (name) {
      case "id" -> json.stringNode(job.id().toString());
      case "key" -> json.stringNode(job.key());
      case "type" -> json.stringNode(job.type());
      case "status" -> json.stringNode(job.status().word());
      case "priority" -> json.stringNode(job.order().priority().word());
      case "batch" -> json.numberNode(job.batch());
      case "worker" ->
          job.hand().worker() == null
              ? json.nullNode()
              : json.stringNode(job.hand().worker().toString());
      case "submitted" -> json.numberNode(job.times().submitted());
      case "started" -> time(job.times().started());
      case "ended" -> time(job.times().ended());
      case "failures" -> json.numberNode(job.failures());
      case "returns" -> json.numberNode(job.returns());
      case "tags" -> FilterFields.texts(job.order().policy().tags());
      default -> null;
    };
  }

  private static JsonNode time(@Nullable Long millis) {
    return millis == null
        ? JsonNodeFactory.instance.nullNode()
        : JsonNodeFactory.instance.numberNode(millis.longValue());
  }

  /** A job as it was read. */
  record JobItem(StoredJob entry) implements Item {
    @Override
    public String id() {
      return entry.job().id().toString();
    }

    @Override
    public String scope() {
      return entry.job().type();
    }

    @Override
    public String summary() {
      Job job = entry.job();
      String text = job.status().word();
      if (!job.type().isEmpty()) {
        text += ", type " + job.type();
      }
      return job.order().key() == null ? text : text + ", key " + job.order().key();
    }
  }

  @Override
  public Selection<JobItem> select(BulkOrder order, long givenMillis) {
    return new Chosen(order, givenMillis);
  }

  private final class Chosen implements Selection<JobItem> {
    private final String action;
    private final Filter filter;
    private final @Nullable Set<String> reach;
    private final long givenMillis;

    /** To which jobs are moved; null if they are not. */
    private final UserActions.@Nullable Destination to;

    Chosen(BulkOrder order, long givenMillis) {
      this.action = order.action();
      this.filter = filter(order);
      this.reach = order.reach();
      this.givenMillis = givenMillis;
      this.to =
          action.equals("move")
              ? new UserActions.Destination(destination(order), settings, groups)
              : null;
    }

    @Override
    public Page<JobItem> page(String after, int most) {
      List<JobItem> items = new ArrayList<>();
      String last = after;
      int lookedAt = 0;
      for (Document document : store.pages(Keys.JOBS, "", after)) {
        last = document.key().key();
        StoredJob entry = store.known().read(document);
        if (isChosen(entry.job())) {
          items.add(new JobItem(entry));
        }
        if (items.size() == most || ++lookedAt == MAX_LOOKED_AT) {
          return new Page<>(items, last, false);
        }
      }
      return new Page<>(items, last, true);
    }

    private boolean isChosen(Job job) {
      return applies(job)
          && job.times().submitted() <= givenMillis
          && isReached(reach, job.type())
          && filter.matches(subject(job));
    }

    private boolean applies(Job job) {
      JobStatus status = job.status();
      if (to != null) {
        return status != JobStatus.DONE && !job.type().equals(to.type());
      }
      return switch (action) {
        case "retry" -> status == JobStatus.FAILED;
        case "cancel" -> !status.isEnd();
        case "delete" -> status != JobStatus.RUNNING;
        default -> throw new InvalidBulkException("there is no action " + action);
      };
    }

    @Override
    public boolean apply(List<JobItem> items, Joint joint) {
      UserActions actions = new UserActions(store);
      JobTransaction transaction = new JobTransaction(store.self());
      // Jobs that run are claimed by others; see UserActions on why that is safe.
      transaction.override(true);
      List<JobTransaction.Written> written = new ArrayList<>();
      List<String> blobs = new ArrayList<>();
      List<Skip> skipped = new ArrayList<>();
      Set<String> keys = new HashSet<>();
      for (JobItem item : items) {
        if (to != null) {
          Optional<String> problem =
              item.entry().job().status() == JobStatus.RUNNING
                  ? Optional.of(RUNS)
                  : actions.addMove(transaction, item.entry(), to, keys, written::add);
          problem.ifPresent(why -> skipped.add(new Skip(item.id(), why)));
          continue;
        }
        switch (action) {
          case "retry" -> written.add(actions.addRetry(transaction, item.entry()));
          case "cancel" -> written.add(actions.addEnd(transaction, item.entry(), "cancelled"));
          default -> actions.addDelete(transaction, item.entry().job()).ifPresent(blobs::add);
        }
      }
      Outcome.Done done = joint.commit(transaction.builder(), skipped);
      if (done != null) {
        for (JobTransaction.Written each : written) {
          var _ = store.stored(each, done);
        }
        if (action.equals("delete")) {
          items.forEach(item -> actions.deletePayload(item.entry().job()));
          blobs.forEach(store.blobs()::delete);
        }
      }
      return done != null;
    }
  }
}
