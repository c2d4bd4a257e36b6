package io.millrace.work.bulk;

import io.millrace.store.Bytes;
import io.millrace.store.Document;
import io.millrace.work.bulk.BulkProgress.Skip;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A bulk action as it is stored. Immutable.
 *
 * @param id its id; later ones are greater
 * @param order what it does
 * @param starter who started it
 * @param createdMillis when it was started, in milliseconds since the epoch
 * @param total how many items the filter chose at the start
 * @param state its state
 * @param progress how far it is
 * @param endedMillis when it ended, in milliseconds since the epoch; 0 until then
 * @param problem why it failed, or does not get on; null if there is no problem
 * @param version the version of its document
 */
public record BulkAction(
    String id,
    BulkOrder order,
    Starter starter,
    long createdMillis,
    long total,
    State state,
    BulkProgress progress,
    long endedMillis,
    @Nullable String problem,
    long version) {

  /** The state of a bulk action. */
  public enum State {
    /** Items are visited. */
    RUNNING,
    /** All items have been visited. */
    DONE,
    /** It was cancelled; what had been changed stays changed. */
    CANCELLED,
    /** It cannot go on. */
    FAILED;

    /** The word for it, in lower case. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }

    private static State of(String word) {
      return Arrays.stream(values())
          .filter(state -> state.word().equals(word))
          .findAny()
          .orElseThrow(() -> new IllegalStateException("no state of a bulk action: " + word));
    }
  }

  /**
   * Who started a bulk action.
   *
   * @param principal the name of the principal
   * @param key the prefix of the key that was shown; null for none
   * @param address the address of the client
   */
  public record Starter(String principal, @Nullable String key, String address) {}

  /** The same at another point. */
  BulkAction at(BulkProgress reached) {
    return new BulkAction(
        id, order, starter, createdMillis, total, state, reached, endedMillis, null, version);
  }

  /** The same after its end. */
  BulkAction ended(State end, long nowMillis, @Nullable String why) {
    return new BulkAction(
        id, order, starter, createdMillis, total, end, progress, nowMillis, why, version);
  }

  /** The same as a commit has stored it. */
  BulkAction stored(long newVersion) {
    return new BulkAction(
        id,
        order,
        starter,
        createdMillis,
        total,
        state,
        progress,
        endedMillis,
        problem,
        newVersion);
  }

  Bytes write() {
    ObjectNode json = JsonMapper.shared().createObjectNode();
    json.put("kind", order.kind()).put("action", order.action()).set("filter", order.filter());
    ObjectNode options = json.putObject("options");
    order.options().forEach(options::put);
    Set<String> reach = order.reach();
    if (reach != null) {
      new TreeSet<>(reach).forEach(json.putArray("reach")::add);
    }
    json.put("principal", starter.principal());
    json.put("key", starter.key());
    json.put("address", starter.address());
    json.put("created", createdMillis);
    json.put("total", total);
    json.put("state", state.word());
    json.put("after", progress.after());
    json.put("done", progress.done());
    ObjectNode skipped = json.putObject("skipped");
    progress.skipped().forEach(skipped::put);
    ArrayNode examples = json.putArray("examples");
    for (Skip skip : progress.examples()) {
      examples.addObject().put("id", skip.id()).put("reason", skip.reason());
    }
    json.put("ended", endedMillis);
    json.put("problem", problem);
    return Bytes.of(json.toString());
  }

  static BulkAction read(Document document) {
    JsonNode json = JsonMapper.shared().readTree(document.body().toArray());
    Map<String, String> options = new HashMap<>();
    json.required("options")
        .propertyStream()
        .forEach(option -> options.put(option.getKey(), option.getValue().asString()));
    Set<String> reach = null;
    if (json.has("reach")) {
      reach = new TreeSet<>();
      for (JsonNode each : json.required("reach")) {
        reach.add(each.asString());
      }
    }
    Map<String, Long> skipped = new HashMap<>();
    json.required("skipped")
        .propertyStream()
        .forEach(reason -> skipped.put(reason.getKey(), reason.getValue().asLong()));
    List<Skip> examples = new ArrayList<>();
    for (JsonNode each : json.required("examples")) {
      examples.add(new Skip(each.required("id").asString(), each.required("reason").asString()));
    }
    return new BulkAction(
        document.key().key(),
        new BulkOrder(
            json.required("kind").asString(),
            json.required("action").asString(),
            (ObjectNode) json.required("filter"),
            options,
            reach),
        new Starter(
            json.required("principal").asString(),
            json.path("key").asString(null),
            json.required("address").asString()),
        json.required("created").asLong(),
        json.required("total").asLong(),
        State.of(json.required("state").asString()),
        new BulkProgress(
            json.required("after").asString(), json.required("done").asLong(), skipped, examples),
        json.required("ended").asLong(),
        json.path("problem").asString(null),
        document.version());
  }
}
