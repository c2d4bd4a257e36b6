package io.millrace.server.jobs;

import io.millrace.blobs.BlobStore;
import io.millrace.blobs.Value;
import io.millrace.http.ApiRoutes;
import io.millrace.http.LoopTick;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.AsyncResponse;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.LimitedBody;
import io.millrace.http.message.Response;
import io.millrace.jobs.Job;
import io.millrace.jobs.JobId;
import io.millrace.jobs.JobRegistry;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.jobs.JobsException.SubmittedBeforeException;
import io.millrace.jobs.Priority;
import io.millrace.jobs.Submission;
import io.millrace.server.traces.Traces;
import io.millrace.work.policy.Policy;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.TimeText;
import java.io.IOException;
import java.io.InputStream;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Accepts jobs: a form whose payload is written to its blob as it arrives. Small jobs whose form
 * has arrived as a whole are committed together, without a thread for each.
 */
final class SubmitRoute {
  /** The fields of the form. */
  private static final Set<String> FIELDS =
      Stream.concat(
              Stream.of("Payload", "Priority", "Key", "Description", "RequestId", "Delay", "At"),
              Shapes.settings().stream())
          .collect(Collectors.toCollection(LinkedHashSet::new));

  private static final Set<String> IN_LOWER_CASE =
      FIELDS.stream().map(field -> field.toLowerCase(Locale.ROOT)).collect(Collectors.toSet());

  private final JobRegistry registry;
  private final Types types;
  private final BlobStore blobs;
  private final long maxBytes;
  private final Traces traces;
  private final InstantSource clock = InstantSource.system();

  /** The same one each time, by which a tick knows that it has it already. */
  private final Runnable flush;

  /** Payloads longer than {@code maxBytes} are refused. */
  SubmitRoute(JobRegistry registry, Types types, BlobStore blobs, long maxBytes, Traces traces) {
    this.traces = traces;
    this.registry = registry;
    this.types = types;
    this.blobs = blobs;
    this.maxBytes = maxBytes;
    this.flush = registry::flush;
  }

  void addTo(ApiRoutes api) {
    ApiRoutes forms = api.limitable().body(Route.Body.FORM, FIELDS).action("job.submit");
    forms.post(
        "/jobs/submit",
        (request, tick) -> begin(request, types.none(request), tick),
        request -> submit(request, types.none(request)));
    forms.post(
        "/jobs/submit/{type}",
        (request, tick) -> begin(request, types.named(request, request.parameter("type")), tick),
        request -> submit(request, types.named(request, request.parameter("type"))));
  }

  /** Takes a small job without waiting; null for one that is not small. */
  private @Nullable AsyncResponse begin(Request request, String type, LoopTick tick)
      throws IOException {
    Form form = Form.of(request);
    SubmittedFields fields = new SubmittedFields();
    Value.Inline payload = null;
    for (Form.Field field = form.next(); field != null; field = form.next()) {
      if (!field.name().equals("payload")) {
        fields.take(field);
        continue;
      }
      byte[] bytes = field.content().readNBytes(Value.INLINE_LIMIT + 1);
      if (bytes.length > Math.min(maxBytes, Value.INLINE_LIMIT) || payload != null) {
        return null;
      }
      payload = new Value.Inline(bytes);
    }
    if (payload == null) {
      return null;
    }
    JobId id = registry.newId();
    CompletableFuture<Job> job =
        registry.enqueue(
            id,
            fields.submission(type, clock).in(traces.begin(request)),
            payload,
            fields.requestId);
    tick.atEnd(flush);
    return AsyncResponse.of(job, submitted -> taken(request, id, submitted));
  }

  private static Response.Whole taken(Request request, JobId id, CompletableFuture<Job> submitted) {
    if (submitted.state() == Future.State.SUCCESS) {
      return taken(request, id, submitted.resultNow());
    }
    return switch (submitted.exceptionNow()) {
      case SubmittedBeforeException e -> repeated(request, e.job());
      case RuntimeException e -> throw e;
      case Throwable e -> throw new IllegalStateException(e);
    };
  }

  /** The response to a submission under an id; the job has another one if it is a duplicate. */
  private static Response.Whole taken(Request request, JobId id, Job job) {
    return taken(request, job.id(), job.key(), !job.id().equals(id));
  }

  /** The response to a repeated submission whose job has left the store. */
  private static Response.Whole repeated(Request request, JobId job) {
    return taken(request, job, job.toString(), true);
  }

  private static Response.Whole taken(Request request, JobId job, String key, boolean duplicate) {
    request.changed(duplicate ? 0 : 1, job.toString(), job.toString());
    ObjectNode json = Json.object().put("created", key).put("id", job.toString());
    return Json.response(202, duplicate ? json.put("duplicate", true) : json);
  }

  /**
   * Submits a job of this process, with the fields of the form as they would be sent.
   *
   * @param fields by name, without the payload
   * @throws HttpProblem 400 if a field is wrong
   */
  JobsPart.Submitted submit(String type, Map<String, String> fields, InputStream payload) {
    SubmittedFields submitted = new SubmittedFields();
    fields.forEach((name, text) -> submitted.take(name.toLowerCase(Locale.ROOT), text));
    Taken taken = new Taken(registry.newId());
    try {
      Value kept = Value.keep(JobRegistry.payloadName(taken.id), payload, blobs);
      taken.payload = kept;
      Job job =
          registry.submit(taken.id, submitted.submission(type, clock), kept, submitted.requestId);
      boolean duplicate = !job.id().equals(taken.id);
      if (duplicate) {
        discard(taken);
      }
      return new JobsPart.Submitted(job.id(), job.key(), duplicate);
    } catch (SubmittedBeforeException e) {
      discard(taken);
      return new JobsPart.Submitted(e.job(), e.job().toString(), true);
    } catch (HttpProblem | InvalidJobException e) {
      discard(taken);
      throw e;
    }
  }

  /** A payload as far as it has been taken. */
  private static final class Taken {
    final JobId id;
    @Nullable Value payload;

    Taken(JobId id) {
      this.id = id;
    }
  }

  private Response submit(Request request, String type) throws IOException {
    Form form = Form.of(request);
    Taken taken = new Taken(registry.newId());
    try {
      SubmittedFields fields = read(form, taken);
      Value payload = taken.payload;
      if (payload == null) {
        throw HttpProblem.malformed("the form has no field Payload");
      }
      Job job =
          registry.submit(
              taken.id,
              fields.submission(type, clock).in(traces.begin(request)),
              payload,
              fields.requestId);
      if (!job.id().equals(taken.id)) {
        discard(taken);
      }
      return taken(request, taken.id, job);
    } catch (SubmittedBeforeException e) {
      discard(taken);
      return repeated(request, e.job());
    } catch (HttpProblem | InvalidJobException | IOException e) {
      discard(taken);
      throw e;
    }
  }

  private SubmittedFields read(Form form, Taken taken) throws IOException {
    SubmittedFields fields = new SubmittedFields();
    for (Form.Field field = form.next(); field != null; field = form.next()) {
      if (!field.name().equals("payload")) {
        fields.take(field);
        continue;
      }
      if (taken.payload != null) {
        throw HttpProblem.malformed("the form has several fields Payload");
      }
      String key = fields.key();
      if (key != null && !fields.isUnique() && !registry.isFree(key)) {
        // Said before a long payload is read for nothing.
        throw HttpProblem.malformed("there is a job already with the key " + key);
      }
      taken.payload = keep(field, taken.id);
    }
    return fields;
  }

  private Value keep(Form.Field field, JobId id) throws IOException {
    NotingStream part = new NotingStream(field.content());
    LimitedBody content = new LimitedBody(part, maxBytes);
    try {
      return Value.keep(JobRegistry.payloadName(id), content, blobs);
    } catch (RuntimeException e) {
      if (content.exceeded()) {
        throw HttpProblem.tooLarge("a payload has at most " + maxBytes + " bytes");
      }
      IOException failure = part.failure();
      if (failure != null) {
        throw Form.meaning(failure);
      }
      throw e;
    }
  }

  private void discard(Taken taken) {
    if (taken.payload instanceof Value.Stored stored) {
      boolean _ = blobs.delete(stored.name());
    }
  }

  /** The fields of a submission beside its payload. Empty ones count as absent. */
  private static final class SubmittedFields {
    /** More than any of them may have. */
    private static final int MAX_BYTES = 4 << 10;

    private final Set<String> seen = new HashSet<>();
    private @Nullable Priority priority;
    private @Nullable String key;
    private @Nullable String description;
    private @Nullable String requestId;
    private long delayMillis;
    private long atMillis;
    private final Map<String, String> settings = new HashMap<>();

    /**
     * Takes a field.
     *
     * @throws HttpProblem 400 for one that is unknown, comes again, or is wrong
     * @throws InvalidJobException for one that no job can have
     */
    void take(Form.Field field) throws IOException {
      take(field.name(), field.text(MAX_BYTES));
    }

    void take(String name, String text) {
      if (!IN_LOWER_CASE.contains(name)) {
        throw HttpProblem.malformed(
            "the form has an unknown field " + name + "; known are " + String.join(", ", FIELDS));
      }
      if (!seen.add(name)) {
        throw HttpProblem.malformed("the form has several fields " + name);
      }
      switch (name) {
        case "priority" -> priority = priority(text);
        case "key" -> key = text.isEmpty() ? null : text;
        case "requestid" -> requestId = text.isEmpty() ? null : text;
        case "description" -> description = text.isEmpty() ? null : text;
        default -> term(name, text.strip());
      }
      // Its parts are checked where they are made, so that a wrong one is refused at once.
      Submission _ = new Submission("", Priority.BATCH, key, description);
    }

    /** A field about when it runs, and how often. */
    private void term(String name, String text) {
      Policy.Field setting = Shapes.setting(name);
      if (text.isEmpty()) {
        return;
      }
      try {
        if (setting != null) {
          settings.put(setting.key(), text);
          Policy _ = new Policy(settings);
        } else if (name.equals("delay")) {
          delayMillis = TimeText.duration(name, text).toMillis();
        } else {
          atMillis = TimeText.moment(name, text).toEpochMilli();
        }
      } catch (PolicyException e) {
        throw HttpProblem.malformed(String.valueOf(e.getMessage()));
      }
      if (delayMillis > 0 && atMillis > 0) {
        throw HttpProblem.malformed("at cannot be combined with delay");
      }
    }

    private static Priority priority(String text) {
      return Priority.named(text.strip())
          .orElseThrow(() ->
              HttpProblem.malformed(
                  "the priority must be \"immediate\" or \"batch\", not \"" + text + "\""));
    }

    /** Whether it may be a duplicate of the job with its key, by what has come. */
    boolean isUnique() {
      return requestId != null || settings.containsKey(Policy.Field.UNIQUE.key());
    }

    /** The key, if it has come and is not empty. */
    @Nullable String key() {
      return key;
    }

    /**
     * All of them.
     *
     * @throws HttpProblem 400 if the priority is missing
     */
    Submission submission(String type, InstantSource clock) {
      Priority given = priority;
      if (given == null) {
        throw HttpProblem.malformed(
            "the form has no field Priority, which must be \"immediate\" or \"batch\"");
      }
      if (delayMillis == 0 && atMillis == 0 && settings.isEmpty()) {
        return new Submission(type, given, key, description);
      }
      long now = clock.millis();
      if (atMillis - now > TimeText.LONGEST.toMillis()) {
        throw HttpProblem.malformed(
            "at must be at most " + TimeText.LONGEST.toDays() + " days from now");
      }
      long notBefore = delayMillis > 0 ? now + delayMillis : atMillis > now ? atMillis : 0;
      return new Submission(type, given, key, description, notBefore, new Policy(settings));
    }
  }
}
