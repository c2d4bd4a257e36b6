package io.millrace.server.openapi;

import io.millrace.http.json.Json;
import io.millrace.server.config.Yaml;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What the resource of one part says of its routes.
 *
 * @param name the name of the part, which is the tag of its operations
 * @param source the resource
 */
record PartDescription(String name, JsonNode source) {
  /** The parts with a resource, in the order of the document. */
  private static final List<String> PARTS =
      List.of(
          "server",
          "dashboard",
          "store",
          "shards",
          "blobs",
          "queues",
          "jobs",
          "graph",
          "schedules",
          "limits",
          "why",
          "bulk",
          "archive",
          "cluster",
          "access",
          "audit");

  /** The descriptions of all parts. */
  static List<PartDescription> all() {
    return PARTS.stream().map(PartDescription::read).toList();
  }

  private static PartDescription read(String part) {
    try (InputStream in = PartDescription.class.getResourceAsStream(part + ".yaml")) {
      Yaml yaml =
          in == null ? null : Yaml.read(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      if (yaml == null) {
        throw new IllegalStateException("there is no description of the part " + part);
      }
      return new PartDescription(part, yaml.json());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (Yaml.Mistake e) {
      throw new IllegalStateException(part + ".yaml, " + e.getMessage(), e);
    }
  }

  /** What it is, in a sentence or more. */
  String description() {
    return source.path("description").asString();
  }

  /** Its schemas by name. */
  Map<String, JsonNode> schemas() {
    return entries(source.path("schemas"));
  }

  /** Its operations by method and path, for example {@code GET /limits}. */
  Map<String, JsonNode> operations() {
    return entries(source.path("operations"));
  }

  /** The type of a parameter of an operation; null if neither it nor the part says it. */
  @Nullable JsonNode parameter(JsonNode operation, String parameter) {
    JsonNode own = operation.path("parameters").get(parameter);
    return own == null ? source.path("parameters").get(parameter) : own;
  }

  /** The type of a header; that of text if the part does not say it. */
  JsonNode header(String header) {
    JsonNode type = source.path("headers").get(header);
    return type == null ? Json.MAPPER.valueToTree("string") : type;
  }

  private static Map<String, JsonNode> entries(JsonNode mapping) {
    Map<String, JsonNode> entries = new LinkedHashMap<>();
    mapping.forEachEntry(entries::put);
    return entries;
  }
}
