package io.millrace.server.queues;

import io.millrace.http.json.Json;
import io.millrace.queues.search.TaskFilter;
import io.millrace.store.Document;
import io.millrace.store.TaskStore;
import io.millrace.work.StoreSession;
import io.millrace.work.filter.Filter;
import io.millrace.work.filter.Subject;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Collections of documents that users keep in the store, from which tasks can be created. */
record UserDocuments(Function<String, Iterable<ObjectNode>> source) {
  /** The prefixes of the system's own collections, up to a dot. */
  private static final Set<String> SYSTEM =
      Set.of("queues", "jobs", "graph", "cluster", "access", "millrace", "system");

  private static final String FROM_DOCUMENT = "document.";

  /**
   * A params object for each document of a collection that matches. A value {@code document.x} is
   * replaced by the field x of the document, or by null if it has none. The key of a document
   * counts as its {@code _id} if it has no other.
   */
  List<ObjectNode> params(String collection, ObjectNode filter, ObjectNode params) {
    Iterable<ObjectNode> all = source.apply(collection);
    if (params.isEmpty()) {
      throw Refusal.of("params must not be empty", "params", params);
    }
    Filter wanted = TaskFilter.onDocuments(filter);
    List<ObjectNode> tasks = new ArrayList<>();
    for (ObjectNode fields : all) {
      if (wanted.matches(Subject.of(fields))) {
        tasks.add(filled(params, fields));
      }
      if (tasks.size() > TaskArray.MOST) {
        throw Refusal.of("one request creates at most " + TaskArray.MOST + " tasks");
      }
    }
    return tasks;
  }

  /** The documents of a collection of a store, read while they are passed on. */
  static Function<String, Iterable<ObjectNode>> in(TaskStore store) {
    return collection -> {
      if (SYSTEM.contains(collection.split("\\.", 2)[0])) {
        throw ofSystem(collection);
      }
      Iterable<Document> documents = StoreSession.pages(store, collection, "", "");
      return () -> {
        Iterator<Document> each = documents.iterator();
        return new Iterator<>() {
          @Override
          public boolean hasNext() {
            return each.hasNext();
          }

          @Override
          public ObjectNode next() {
            return fields(each.next());
          }
        };
      };
    };
  }

  private static Refusal ofSystem(String collection) {
    return Refusal.of(
        "collection " + collection + " belongs to the system", "collection", collection);
  }

  private static ObjectNode fields(Document document) {
    try {
      if (Json.read(document.body().toArray()) instanceof ObjectNode fields) {
        if (!fields.has("_id")) {
          fields.put("_id", document.key().key());
        }
        return fields;
      }
    } catch (JacksonException _) {
      // Said below.
    }
    throw Refusal.of(
        "Could not iterate on collection "
            + document.key().collection()
            + ": "
            + document.key().key()
            + " is not a JSON object");
  }

  private static ObjectNode filled(ObjectNode params, ObjectNode fields) {
    ObjectNode task = Json.object();
    for (Map.Entry<String, JsonNode> param : params.properties()) {
      JsonNode value = param.getValue();
      if (value.isString() && value.asString().startsWith(FROM_DOCUMENT)) {
        task.set(param.getKey(), value(fields, value.asString().substring(FROM_DOCUMENT.length())));
      } else {
        task.set(param.getKey(), value);
      }
    }
    return task;
  }

  /** The field of this name, or else the field to which the dots in the name lead. */
  private static JsonNode value(ObjectNode fields, String name) {
    JsonNode value = fields.path(name);
    if (value.isMissingNode()) {
      value = fields;
      for (String step : name.split("\\.", -1)) {
        value = value.path(step);
      }
    }
    return value.isMissingNode() ? Json.MAPPER.nullNode() : value;
  }
}
