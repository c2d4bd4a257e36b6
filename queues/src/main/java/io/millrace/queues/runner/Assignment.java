package io.millrace.queues.runner;

import io.millrace.processes.PrivateFiles;
import io.millrace.queues.NodeConfig.OutputLimits;
import io.millrace.queues.ObjectId;
import io.millrace.queues.Run;
import io.millrace.queues.Status;
import io.millrace.queues.plugin.PluginFolder;
import io.millrace.queues.runner.Messages.Lines;
import io.millrace.store.Bytes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a node hands to a runner.
 *
 * @param run the run, claimed
 * @param plugin the plugin that runs it
 * @param limits what is kept of its output
 * @param terms the rest
 */
record Assignment(Run run, String plugin, OutputLimits limits, Terms terms) {

  /**
   * The terms of the work.
   *
   * @param plugins the plugins
   * @param lease how long a claim lasts unless it is renewed
   * @param again whether the runner waits for another task afterwards
   */
  record Terms(PluginFolder plugins, Duration lease, boolean again) {}

  ObjectId task() {
    return run.task();
  }

  boolean isSameRun(Run other) {
    return run.task().equals(other.task()) && run.claim().equals(other.claim());
  }

  ObjectNode write() {
    ObjectNode json = Lines.object();
    json.put("task", run.task().hex());
    json.put("queue", run.queue().hex());
    json.put("node", run.node());
    json.put("client", run.claim().client());
    json.put("origin", run.claim().origin());
    json.put("token", run.claim().token());
    json.put("since", run.sinceMillis());
    json.put("version", run.version());
    if (run.timeoutMillis() > 0) {
      json.put("timeout", run.timeoutMillis());
    }
    Run.TaskDocument document = run.document();
    if (document != null) {
      json.put("document", document.body().utf8());
      json.put("document_version", document.version());
    }
    json.put("plugin", plugin);
    json.put("files", limits.files().name());
    json.put("text_bytes", limits.textBytes());
    json.put("max_bytes", limits.maxBytes());
    json.put("lease", terms.lease().toMillis());
    json.put("again", terms.again());
    if (terms.plugins().path() != null) {
      json.put("plugins", terms.plugins().path().toString());
    }
    if (!terms.plugins().perl().isEmpty()) {
      ArrayNode perl = json.putArray("perl");
      terms.plugins().perl().forEach(folder -> perl.add(folder.toString()));
    }
    return json;
  }

  /** Reads the output of {@link #write}; throws an unchecked exception for anything else. */
  static Assignment read(JsonNode json) {
    Run.Claim claim =
        new Run.Claim(
            json.required("client").asLong(),
            json.required("origin").asLong(),
            json.required("token").asLong());
    Run run =
        new Run(
            new ObjectId(json.required("task").asString()),
            new ObjectId(json.required("queue").asString()),
            json.required("node").asString(),
            claim,
            Status.CLAIMED,
            null,
            json.required("since").asLong(),
            json.required("version").asLong(),
            json.path("timeout").asLong(0),
            document(json));
    OutputLimits limits =
        new OutputLimits(
            OutputLimits.Files.valueOf(json.required("files").asString()),
            json.required("text_bytes").asLong(),
            json.required("max_bytes").asLong());
    Path plugins = json.has("plugins") ? Path.of(json.path("plugins").asString()) : null;
    List<Path> perl = new ArrayList<>();
    json.path("perl").forEach(folder -> perl.add(Path.of(folder.asString())));
    Terms terms =
        new Terms(
            new PluginFolder(plugins, perl),
            Duration.ofMillis(json.required("lease").asLong()),
            json.required("again").asBoolean());
    return new Assignment(run, json.required("plugin").asString(), limits, terms);
  }

  /** The document of the task, which nodes of older versions do not hand over. */
  private static Run.@Nullable TaskDocument document(JsonNode json) {
    return json.has("document")
        ? new Run.TaskDocument(
            Bytes.of(json.required("document").asString()),
            json.required("document_version").asLong())
        : null;
  }

  private static final Logger LOG = LoggerFactory.getLogger(Assignment.class);

  /**
   * Writes it into the runner's folder, before the runner is told: if this ends in the middle,
   * nothing was begun. The file stays when the task has ended, and is written again for the next
   * one, since a file for each task would cost more. A later start of the node tells by the claim
   * whether the run goes on.
   */
  static void write(TaskFolder folder, Assignment assignment) throws IOException {
    PrivateFiles.write(folder.assignment(), Lines.bytes(assignment.write()));
  }

  /** The stored assignment; empty if there is none, or it cannot be read. */
  static Optional<Assignment> read(TaskFolder folder) {
    try {
      byte[] bytes = Files.readAllBytes(folder.assignment());
      return bytes.length == 0
          ? Optional.empty()
          : Optional.of(Assignment.read(Lines.parse(bytes)));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    } catch (IOException | RuntimeException e) {
      LOG.warn("{} cannot be read: {}", folder.assignment(), e.toString());
      return Optional.empty();
    }
  }

  /** Leaves nothing on file, because the runner was not told. */
  static void remove(TaskFolder folder) {
    try {
      PrivateFiles.write(folder.assignment(), new byte[0]);
    } catch (IOException e) {
      // The next start of the node asks the store whether the run goes on.
      LOG.debug("{} cannot be emptied: {}", folder.assignment(), e.toString());
    }
  }
}
