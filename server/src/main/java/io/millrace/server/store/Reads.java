package io.millrace.server.store;

import io.millrace.http.Request;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.store.Document;
import io.millrace.store.DocumentKey;
import io.millrace.store.Task;
import io.millrace.store.TaskRef;
import io.millrace.store.TaskStore;
import io.millrace.store.TaskStore.DocumentQuery;
import io.millrace.store.TaskStore.DocumentQuery.Order;
import io.millrace.store.TaskStore.GroupQuery;
import io.millrace.store.TaskStore.GroupQuery.Place;
import io.millrace.store.TaskStore.GroupQuery.Selection;
import io.millrace.store.TaskStore.GroupSummary;
import io.millrace.store.TaskStore.Read;
import io.millrace.wire.DataForm;
import io.millrace.wire.Requests;
import io.millrace.wire.Responses;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * The requests that only read.
 *
 * @param shard the store of a request for its position: the shard that it names, if there are some
 */
record Reads(TaskStore store, Function<Request, TaskStore> shard, int maxRefs) {
  private static final int MAX_REFS_BODY_BYTES = 1 << 20;

  /** Longer lists are streamed, so that none has to be held as text. */
  private static final int MAX_WHOLE = 100;

  Response groupNames(Request request) {
    Read<List<GroupSummary>> read = store.groups();
    return whole(read, Responses.writeNames(visible(request, read.value())));
  }

  Response summary(Request request) {
    Read<List<GroupSummary>> read = store.groups();
    return whole(read, Responses.writeSummaries(visible(request, read.value())));
  }

  private static List<GroupSummary> visible(Request request, List<GroupSummary> groups) {
    Permitted permitted = new Permitted(request.caller());
    return groups.stream().filter(group -> permitted.mayRead(group.name())).toList();
  }

  Response task(Request request) {
    List<TaskRef> refs = Requests.readRefs(request.parameter("id"));
    if (refs.size() != 1) {
      throw HttpProblem.malformed("one task id is wanted here; several go to /store/tasks/…");
    }
    DataForm form = data(request);
    Read<Optional<Task>> read = store.task(refs.getFirst());
    Task task =
        new Permitted(request.caller())
            .visible(List.of(read.value()))
            .getFirst()
            .orElseThrow(() ->
                HttpProblem.notFound(refs.getFirst() + " is not there")
                    .withHeader(Responses.POSITION_HEADER, read.position().toString())
                    .withHeader(Responses.TIME_HEADER, Long.toString(read.timeMillis())));
    return whole(read, Responses.write(task, read.timeMillis(), form));
  }

  Response tasks(Request request) {
    return found(request, Requests.readRefs(request.parameter("ids")));
  }

  Response postedTasks(Request request) throws IOException {
    return found(request, Requests.readRefs(request.body(MAX_REFS_BODY_BYTES)));
  }

  private Response found(Request request, List<TaskRef> refs) {
    if (refs.size() > maxRefs) {
      throw HttpProblem.tooLarge(
          refs.size() + " tasks are named, more than the limit of " + maxRefs);
    }
    DataForm form = data(request);
    Read<List<Optional<Task>>> read = store.tasks(refs);
    List<Optional<Task>> visible = new Permitted(request.caller()).visible(read.value());
    return list(
        read,
        visible.size(),
        target -> Responses.writeFound(target, visible, read.timeMillis(), form));
  }

  Response group(Request request) {
    String group = name("group", request.parameter("group"));
    new Permitted(request.caller()).checkRead(group);
    DataForm form = data(request);
    Place after =
        request
            .query()
            .text("after")
            .filter(it -> !it.isEmpty())
            .map(Requests::readPlace)
            .orElse(null);
    Read<List<Task>> read =
        store.group(new GroupQuery(group, limit(request), selection(request), after));
    return list(
        read,
        read.value().size(),
        target -> Responses.writeTasks(target, read.value(), read.timeMillis(), form));
  }

  private static Selection selection(Request request) {
    boolean owned = request.query().bool("owned", false);
    if (!request.query().bool("delayed", false)) {
      return owned ? Selection.ALL : Selection.WAITING;
    }
    if (owned) {
      throw HttpProblem.malformed("delayed cannot be combined with owned");
    }
    return Selection.DELAYED;
  }

  Response document(Request request) {
    DocumentKey key =
        new DocumentKey(
            name("collection", request.parameter("collection")),
            name("document", request.parameter("key")));
    new Permitted(request.caller()).checkRead(key.collection());
    DataForm form = data(request);
    Read<Optional<Document>> read = store.document(key);
    Document document =
        read.value()
            .orElseThrow(() ->
                HttpProblem.notFound(key + " is not there")
                    .withHeader(Responses.POSITION_HEADER, read.position().toString())
                    .withHeader(Responses.TIME_HEADER, Long.toString(read.timeMillis())));
    return whole(read, Responses.write(document, form));
  }

  Response documents(Request request) {
    DataForm form = data(request);
    DocumentQuery query =
        new DocumentQuery(
            name("collection", request.parameter("collection")),
            request.query().text("prefix").orElse(""),
            request.query().text("after").orElse(""),
            limit(request),
            order(request));
    new Permitted(request.caller()).checkRead(query.collection());
    Read<List<Document>> read = store.documents(query);
    return list(
        read, read.value().size(), target -> Responses.writeDocuments(target, read.value(), form));
  }

  private static Order order(Request request) {
    return switch (request.query().text("order").orElse("ascending")) {
      case "ascending" -> Order.ASCENDING;
      case "descending" -> Order.DESCENDING;
      default -> throw HttpProblem.malformed("the parameter order is ascending or descending");
    };
  }

  Response position(Request request) {
    Read<?> read = shard.apply(request).tasks(List.of());
    return whole(read, Responses.write(read.position(), read.timeMillis()));
  }

  /** Writes a list. */
  private interface ListBody {
    void writeTo(OutputStream target);
  }

  private static Response list(Read<?> read, int size, ListBody body) {
    if (size > MAX_WHOLE) {
      return new Response.Streamed(200, Response.JSON, headers(read), -1, body::writeTo);
    }
    ByteArrayOutputStream target = new ByteArrayOutputStream(512);
    body.writeTo(target);
    return whole(read, target.toByteArray());
  }

  private static Response whole(Read<?> read, byte[] body) {
    return new Response.Whole(200, Response.JSON, headers(read), body);
  }

  private static Map<String, String> headers(Read<?> read) {
    return Map.of(
        Responses.POSITION_HEADER,
        read.position().toString(),
        Responses.TIME_HEADER,
        Long.toString(read.timeMillis()));
  }

  /** How the client wants data: {@code data=base64} or text. */
  static DataForm data(Request request) {
    String form = request.query().text("data").orElse("text");
    return switch (form) {
      case "text" -> DataForm.TEXT;
      case "base64" -> DataForm.BASE64;
      default ->
          throw HttpProblem.malformed(
              "the parameter data must be \"text\" or \"base64\", not \"" + form + "\"");
    };
  }

  /**
   * The name of something.
   *
   * @param of whose name it is, for the message
   * @throws HttpProblem 400 if it is empty: nothing has such a name
   */
  static String name(String of, String text) {
    if (text.isEmpty()) {
      throw HttpProblem.malformed("the name of a " + of + " must not be empty");
    }
    return text;
  }

  /** The most elements to list; 0 for all, as is any number below. */
  static int limit(Request request) {
    return Math.clamp(
        request.query().integer("limit", 0, Long.MIN_VALUE, Long.MAX_VALUE), 0, Integer.MAX_VALUE);
  }
}
