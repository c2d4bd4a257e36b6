package io.millrace.server.limits;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.Route.Body;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.jobs.registry.Jobs;
import io.millrace.queues.Queue;
import io.millrace.queues.registry.QueueRegistry;
import io.millrace.server.Part;
import io.millrace.server.metrics.CounterTable;
import io.millrace.server.metrics.GaugeTable;
import io.millrace.server.metrics.SeriesLabels;
import io.millrace.store.EmbeddedTaskStore;
import io.millrace.store.EmbeddedTaskStore.ReachedLimit;
import io.millrace.store.Owner;
import io.millrace.store.RefusedException;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import io.millrace.store.Throttling.Limit;
import io.millrace.work.policy.PolicyException;
import io.millrace.work.policy.SharedLimits;
import io.millrace.work.policy.SharedLimits.Usage;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The limits that queues, job types and nodes of the graph share, with their API under {@code
 * /limits}.
 */
public final class LimitsPart implements Part {
  private static final Logger LOG = LoggerFactory.getLogger(LimitsPart.class);

  private static final Set<String> FIELDS = Set.of("running", "starts");

  private final EmbeddedTaskStore store;
  private final SharedLimits limits;
  private final QueueRegistry queues;
  private final List<String> types;
  private final ToLongFunction<String> nodes;

  /**
   * A part for the limits of a store.
   *
   * @param requests the store for requests
   * @param types the names of the job types; the empty one if there are none
   * @param nodes how many nodes of the graph hold or wait for permits under a limit
   * @param client the client id with which it changes them
   */
  public LimitsPart(
      EmbeddedTaskStore store,
      TaskStore requests,
      QueueRegistry queues,
      List<String> types,
      ToLongFunction<String> nodes,
      long client) {
    this.store = store;
    this.limits = new SharedLimits(requests, Owner.client(client));
    this.queues = queues;
    this.types = types;
    this.nodes = nodes;
  }

  @Override
  public List<Route> routes() {
    ApiRoutes api =
        ApiRoutes.below("/limits").errors(ErrorForm.PROBLEM_DETAILS).strictQuery(Set.of());
    api.get("", _ -> list()).get("/{name}", request -> Json.response(find(request)));
    ApiRoutes changes = api.role(Role.OPERATOR);
    changes.body(Body.JSON, FIELDS).action("limit.put").put("/{name}", this::put);
    changes.action("limit.delete").delete("/{name}", this::delete);
    return api.routes();
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    responses.add(PolicyException.class, 400).addUnavailable(RefusedException.class);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    SeriesLabels labels = new SeriesLabels();
    GaugeTable used =
        GaugeTable.counts(registry, "millrace.limit.used", "Tasks that count against a limit");
    GaugeTable most =
        GaugeTable.counts(
            registry, "millrace.limit.running", "How many tasks may run under a limit; 0 for any");
    Reached reached = new Reached(registry);
    return () -> {
      List<Usage> all;
      try {
        all = limits.all();
        reached.show(
            store.limitsReached(), all.stream().map(Usage::name).toList(), queues.all(), types);
      } catch (StoreException e) {
        LOG.debug("no figures of limits", e);
        return;
      }
      synchronized (labels) {
        for (Usage usage : all) {
          String label = labels.of(usage.name());
          used.put(usage.used(), "limit", label);
          most.put(usage.limit().running(), "limit", label);
        }
        used.show();
        most.show();
      }
    };
  }

  /** How often limits were reached, by what they are about. */
  private static final class Reached {
    private static final String WHAT = "Claims that found waiting work, and no room within ";

    private final CounterTable shared;
    private final CounterTable ofQueues;
    private final CounterTable ofTypes;

    Reached(MeterRegistry registry) {
      shared =
          new CounterTable(registry, "millrace.limit.reached", WHAT + "a shared limit", "limit");
      ofQueues =
          new CounterTable(
              registry, "millrace.queue.limited", WHAT + "the limits of a queue", "queue");
      ofTypes =
          new CounterTable(
              registry, "millrace.jobs.limited", WHAT + "the limits of a job type", "type");
    }

    synchronized void show(
        Map<ReachedLimit, Long> counts,
        List<String> limits,
        List<Queue> queues,
        List<String> types) {
      Map<String, String> names = new HashMap<>();
      queues.forEach(queue -> names.put(queue.id().hex(), queue.name()));
      // What was never reached is shown too, as 0.
      Map<String, Long> byLimit = zeros(limits);
      Map<String, Long> byQueue = zeros(names.values());
      Map<String, Long> byType = zeros(types);
      counts.forEach((limit, count) -> {
        switch (limit.scope()) {
          case SHARED -> byLimit.merge(limit.name(), count, Long::sum);
          case PREFIX ->
              Jobs.typeOf(limit.name()).ifPresent(type -> byType.merge(type, count, Long::sum));
          case GROUP ->
              Queue.waitingIn(limit.name())
                  .map(queue -> names.get(queue.hex()))
                  .ifPresent(name -> byQueue.merge(name, count, Long::sum));
        }
      });
      shared.show(byLimit);
      ofQueues.show(byQueue);
      ofTypes.show(byType);
    }

    private static Map<String, Long> zeros(Collection<String> names) {
      Map<String, Long> counts = new HashMap<>();
      names.forEach(name -> counts.put(name, 0L));
      return counts;
    }
  }

  private Response list() {
    ObjectNode response = Json.object();
    List<Queue> all = queues.all();
    response.set("limits", Json.array(limits.all(), usage -> shown(usage, all)));
    return Json.response(response);
  }

  private ObjectNode find(Request request) {
    String name = request.parameter("name");
    return limits
        .find(name)
        .map(usage -> shown(usage, queues.all()))
        .orElseThrow(() -> HttpProblem.notFound("there is no limit \"" + name + "\""));
  }

  private ObjectNode shown(Usage usage, List<Queue> queues) {
    Limit limit = usage.limit();
    ObjectNode shown = Json.object().put("name", usage.name());
    shown.put("running", limit.running() == 0 ? null : limit.running());
    shown.put("starts", limit.starts() == 0 ? null : SharedLimits.starts(limit));
    shown.put("used", usage.used());
    List<String> names =
        queues.stream()
            .filter(queue -> queue.settings().policy().throttling().shared().contains(usage.name()))
            .map(Queue::name)
            .toList();
    names.forEach(shown.putArray("queues")::add);
    List<String> types =
        usage.prefixes().stream().map(Jobs::typeOf).flatMap(Optional::stream).toList();
    types.forEach(shown.putArray("types")::add);
    shown.put("nodes", nodes.applyAsLong(usage.name()));
    return shown;
  }

  private Response put(Request request) throws IOException {
    ObjectNode body = Json.objectBody(request);
    Json.checkFields("a limit", body, FIELDS);
    String starts = Json.text("starts", body.get("starts"));
    int running = running(body.get("running"));
    if (running == 0 && starts == null) {
      throw HttpProblem.malformed("a limit has running, starts or both");
    }
    limits.put(
        request.parameter("name"),
        SharedLimits.limit("starts", running, starts == null ? "" : starts));
    return Json.response(find(request));
  }

  private static int running(@Nullable JsonNode value) {
    if (value == null || value.isNull()) {
      return 0;
    }
    if (!value.isIntegralNumber() || !value.canConvertToInt() || value.intValue() < 1) {
      throw HttpProblem.malformed("running must be an integer from 1 to 2147483647");
    }
    return value.intValue();
  }

  private Response delete(Request request) {
    String name = request.parameter("name");
    if (!limits.delete(name)) {
      throw HttpProblem.notFound("there is no limit \"" + name + "\"");
    }
    return Json.response(Json.object().put("deleted", name));
  }
}
