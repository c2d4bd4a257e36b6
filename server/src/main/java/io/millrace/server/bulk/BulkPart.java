package io.millrace.server.bulk;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.access.audit.AuditEntry;
import io.millrace.access.audit.AuditEntry.Origin;
import io.millrace.access.audit.AuditLog;
import io.millrace.http.Caller.Reach.Area;
import io.millrace.http.ErrorResponses;
import io.millrace.http.Route;
import io.millrace.server.Part;
import io.millrace.store.TaskStore;
import io.millrace.work.StepLoop;
import io.millrace.work.bulk.BulkAction;
import io.millrace.work.bulk.BulkAction.Starter;
import io.millrace.work.bulk.BulkActions;
import io.millrace.work.bulk.BulkException;
import io.millrace.work.bulk.BulkException.BulkStateException;
import io.millrace.work.bulk.BulkException.InvalidBulkException;
import io.millrace.work.bulk.BulkException.NoBulkActionException;
import io.millrace.work.bulk.BulkTarget;
import io.millrace.work.bulk.BulkTarget.Item;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The bulk actions, with their API and what carries them out. */
public final class BulkPart implements Part {
  private final BulkActions actions;
  private final @Nullable AuditLog audit;
  private final StepLoop loop;
  private final LongAdder changed = new LongAdder();

  private BulkPart(BulkActions actions, @Nullable AuditLog audit) {
    this.actions = actions;
    this.audit = audit;
    this.loop =
        new StepLoop(
            Thread.ofVirtual().name("bulk-actions"),
            InstantSource.system(),
            actions.runner(this::changed));
  }

  /**
   * Opens the bulk actions.
   *
   * @param targets the items to which they apply
   * @param audit counts the items that are changed; null if nothing is recorded
   */
  public static BulkPart open(
      TaskStore store,
      List<BulkTarget<?>> targets,
      @Nullable AuditLog audit,
      RandomGenerator random) {
    return new BulkPart(BulkActions.in(store, targets, InstantSource.system(), random), audit);
  }

  /** Of what the scope of an item is the name. */
  static Area area(String kind) {
    return switch (kind) {
      case "tasks" -> Area.QUEUES;
      case "jobs" -> Area.TYPES;
      default -> Area.GRAPH;
    };
  }

  private void changed(BulkAction action, List<? extends Item> items) {
    changed.add(items.size());
    AuditLog log = audit;
    if (log == null) {
      return;
    }
    Map<String, List<Item>> byScope = new LinkedHashMap<>();
    if (area(action.order().kind()) == Area.GRAPH) {
      byScope.put("", List.copyOf(items));
    } else {
      items.forEach(
          item -> byScope.computeIfAbsent(item.scope(), _ -> new ArrayList<>()).add(item));
    }
    byScope.forEach((scope, some) ->
        log.note(
            origin(action, scope), some.size(), some.getFirst().id(), some.getLast().id(), false));
  }

  private static Origin origin(BulkAction action, String scope) {
    Starter starter = action.starter();
    String kind = action.order().kind();
    Area area = area(kind);
    String word = area == Area.GRAPH ? "graph" : kind.substring(0, kind.length() - 1);
    return new Origin(
        starter.principal(),
        starter.key(),
        starter.address(),
        "POST /bulk",
        word + "." + action.order().action(),
        scope.isEmpty() ? null : area.name().toLowerCase(Locale.ROOT),
        scope,
        AuditEntry.Result.DONE,
        0);
  }

  @Override
  public List<Route> routes() {
    return new BulkRoutes(actions, loop::wake).routes();
  }

  @Override
  public void addErrorResponses(ErrorResponses responses) {
    responses
        .add(InvalidBulkException.class, 400)
        .add(NoBulkActionException.class, 404)
        .add(BulkStateException.class, 409)
        .addUnavailable(BulkException.class);
  }

  @Override
  public Runnable measure(MeterRegistry registry) {
    FunctionCounter.builder("millrace.bulk.items", changed, LongAdder::sum)
        .description("Items that bulk actions have changed since the start")
        .register(registry);
    return () -> {};
  }

  @Override
  public void start(String url) {
    loop.start();
  }

  @Override
  public void close() {
    loop.close();
  }
}
