package io.millrace.cluster.example;

import io.millrace.cluster.ClusterException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.zip.CRC32;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * One part of a topic, as a task: {@code {"part": K, "of": N, "files": [NAME, …]}}. The files that
 * were there when the topic was divided go round: part K has every Nth of them. Those that have
 * come since belong to the part that follows from their names. So every part knows of every file
 * whose it is, and all agree.
 *
 * @param part which part, from 0
 * @param of how many there are
 * @param files the files that were there, in order; none where their names are too many for a task
 */
record Division(int part, int of, List<String> files) {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final int MOST_BYTES = 1 << 18;

  Division {
    files = List.copyOf(files);
  }

  /** Divides a topic. */
  static List<byte[]> tasks(List<String> names, int parts) {
    List<String> sorted = names.stream().sorted().toList();
    int bytes =
        sorted.stream().mapToInt(name -> name.getBytes(StandardCharsets.UTF_8).length).sum();
    List<byte[]> tasks = new ArrayList<>();
    for (int part = 0; part < parts; part++) {
      tasks.add(new Division(part, parts, bytes > MOST_BYTES ? List.of() : sorted).task());
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
  static Division read(byte[] task) {
    try {
      JsonNode json = MAPPER.readTree(task);
      List<String> files = new ArrayList<>();
      json.path("files").forEach(name -> files.add(name.asString()));
      return new Division(json.path("part").asInt(0), json.path("of").asInt(1), files);
    } catch (JacksonException e) {
      throw new ClusterException("a task is no part of a topic: " + e.getOriginalMessage(), e);
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
