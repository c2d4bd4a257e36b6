package io.millrace.cli.tasks;

import io.millrace.cli.remote.Fields;
import io.millrace.client.JsonCalls;
import io.millrace.store.OutcomeUnknownException;
import java.io.ByteArrayOutputStream;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Tasks on their way to a queue, in chunks of one request each. */
final class Submission {
  private static final int CHUNK_TASKS = 4_000;
  private static final int CHUNK_BYTES = 1 << 20;
  private static final JsonMapper JSON = new JsonMapper();

  private final JsonCalls calls;
  private final String path;
  private final Consumer<String> created;
  private final ByteArrayOutputStream chunk = new ByteArrayOutputStream();
  private int inChunk;
  private long done;

  /**
   * Nothing sent yet.
   *
   * @param path where to post
   * @param created learns the id of each task, in order
   */
  Submission(JsonCalls calls, String path, Consumer<String> created) {
    this.calls = calls;
    this.path = path;
    this.created = created;
  }

  /** Adds a task, and sends what has gathered when that is enough. */
  void add(ObjectNode params) {
    byte[] written = JSON.writeValueAsBytes(params);
    if (inChunk > 0 && chunk.size() + written.length >= CHUNK_BYTES) {
      send();
    }
    chunk.write(inChunk == 0 ? '[' : ',');
    chunk.writeBytes(written);
    inChunk++;
    if (inChunk == CHUNK_TASKS) {
      send();
    }
  }

  /** Sends what has gathered. */
  void send() {
    if (inChunk == 0) {
      return;
    }
    chunk.write(']');
    JsonNode answer = calls.post(path, chunk.toByteArray());
    JsonNode result = answer.path("MongoDB::InsertManyResult");
    JsonNode inserted = (result.isMissingNode() ? answer : result).path("inserted");
    for (JsonNode task : inserted) {
      created.accept(Fields.id(task));
    }
    done += inserted.size();
    chunk.reset();
    inChunk = 0;
  }

  /** How many tasks were created for certain. */
  long done() {
    return done;
  }

  /** How far it came before a failure, as a sentence for people. */
  String soFar(Exception failure) {
    String before =
        done == 0 ? "no task was submitted" : done + " tasks were submitted before that";
    return failure instanceof OutcomeUnknownException
        ? before + " for certain, and perhaps the next " + inChunk
        : before;
  }
}
