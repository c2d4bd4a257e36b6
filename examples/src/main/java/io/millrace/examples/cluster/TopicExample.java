package io.millrace.examples.cluster;

import io.millrace.cluster.ClusterException;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.lock.Guard;
import io.millrace.cluster.member.Member;
import io.millrace.cluster.work.SupervisedWork;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileLockInterruptionException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Follows the files of a folder, which are like the partitions of a topic, and appends each new
 * line to the output once: supervised work. The topic is divided into as many parts as there are
 * workers. When members join or leave, all parts stop, and new parts continue at the stored
 * offsets.
 */
public final class TopicExample implements SupervisedWork {
  /** The pause between two reads without new lines. */
  private static final Duration LOOKS = Duration.ofMillis(100);

  private final VersionedDocuments documents;
  private final InputFolder input;
  private final FeedFile output;

  /**
   * The example.
   *
   * @param input the folder; only plain files directly in it count, and they may only grow
   * @param output the output file, not in that folder
   */
  public TopicExample(VersionedDocuments documents, Path input, Path output) {
    this.documents = documents;
    this.input = new InputFolder(input);
    this.output = new FeedFile(output);
  }

  @Override
  public List<byte[]> divide(int workers) {
    return Part.tasks(input.names(), workers);
  }

  @Override
  public void run(byte[] task, Guard guard) throws IOException, InterruptedException {
    try {
      follow(Part.read(task), guard);
    } catch (ClosedByInterruptException | FileLockInterruptionException e) {
      Thread.interrupted();
      InterruptedException stopped = new InterruptedException("stopped following the files");
      stopped.initCause(e);
      throw stopped;
    }
  }

  private void follow(Part division, Guard guard) throws IOException, InterruptedException {
    String token = Member.current().token();
    Map<String, FileFollower> followers = new HashMap<>();
    while (true) {
      boolean any = false;
      for (String name : input.names()) {
        if (division.has(name)) {
          FileFollower follower =
              followers.computeIfAbsent(
                  name, one -> new FileFollower(documents, input.path().resolve(one), output));
          any |= follower.step(guard, token);
        }
      }
      guard.check();
      if (!any) {
        Thread.sleep(LOOKS);
      }
    }
  }

  /**
   * One part of a topic, as a task: {@code {"part": K, "of": N, "files": [NAME, …]}}. Part K has
   * every Nth of the files that existed when the topic was divided. Later files are assigned by the
   * hashes of their names. So all parts agree on the part of each file.
   *
   * @param part the number of the part, from 0
   * @param of the number of parts
   * @param files the files that existed, in order; empty if there are too many for a task
   */
  record Part(int part, int of, List<String> files) {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();
    private static final int MAX_BYTES = 1 << 18;

    Part {
      files = List.copyOf(files);
    }

    /** Divides a topic. */
    static List<byte[]> tasks(List<String> names, int parts) {
      List<String> sorted = names.stream().sorted().toList();
      int bytes =
          sorted.stream().mapToInt(name -> name.getBytes(StandardCharsets.UTF_8).length).sum();
      List<byte[]> tasks = new ArrayList<>();
      for (int part = 0; part < parts; part++) {
        tasks.add(new Part(part, parts, bytes > MAX_BYTES ? List.of() : sorted).task());
      }
      return tasks;
    }

    private byte[] task() {
      ObjectNode json = MAPPER.createObjectNode().put("part", part).put("of", of);
      ArrayNode names = json.putArray("files");
      files.forEach(names::add);
      return MAPPER.writeValueAsBytes(json);
    }

    /** Reads a task. */
    static Part read(byte[] task) {
      try {
        JsonNode json = MAPPER.readTree(task);
        List<String> files = new ArrayList<>();
        json.path("files").forEach(name -> files.add(name.asString()));
        return new Part(json.path("part").asInt(0), json.path("of").asInt(1), files);
      } catch (JacksonException e) {
        throw new ClusterException("a task is not a part of a topic: " + e.getOriginalMessage(), e);
      }
    }

    /** Whether a file belongs to this part. */
    boolean has(String name) {
      int place = Collections.binarySearch(files, name);
      return part == (place >= 0 ? place : hash(name)) % of;
    }

    private static int hash(String name) {
      CRC32 sum = new CRC32();
      sum.update(name.getBytes(StandardCharsets.UTF_8));
      return (int) (sum.getValue() >>> 1);
    }
  }
}
