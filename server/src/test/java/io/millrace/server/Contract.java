package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Query;
import io.millrace.server.openapi.OpenApi;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Holds what clients send and receive against the OpenAPI document. A response must have a
 * described status, media type and headers, and no field that is not described. The parameters and
 * the body of a request that is served must be described too.
 */
public final class Contract {
  private static final Map<List<String>, Contract> CONTRACTS = new ConcurrentHashMap<>();
  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12);

  /** The name of a field of a form. */
  private static final Pattern FIELD = Pattern.compile("form-data;[^\r\n]*\\bname=\"([^\"]*)\"");

  private final JsonNode paths;
  private final JsonNode schemas;
  private final Map<JsonNode, Schema> compiled = new ConcurrentHashMap<>();

  private Contract(JsonNode document) {
    this.paths = document.get("paths");
    this.schemas = document.at("/components/schemas");
  }

  /** The contract of a server with these routes. */
  public static Contract of(List<Route> routes) {
    return CONTRACTS.computeIfAbsent(
        routes.stream().map(route -> route.method() + " " + route.path()).toList(),
        _ -> {
          String text =
              OpenApi.of(routes, "").json().toString().replace("#/components/schemas/", "#/$defs/");
          JsonNode document = Json.MAPPER.readTree(text);
          close(document.get("paths"));
          close(document.at("/components/schemas"));
          return new Contract(document);
        });
  }

  /** Refuses fields that are not described. */
  private static void close(JsonNode node) {
    if (node instanceof ObjectNode object
        && object.path("type").asString("").equals("object")
        && object.has("properties")
        && !object.has("additionalProperties")) {
      object.put("additionalProperties", false);
    }
    node.forEach(Contract::close);
  }

  /** Checks what one request sent and received; a body that is no text is empty. */
  public void check(String method, URI uri, String sent, HttpResponse<String> response) {
    JsonNode operation = operation(method, uri.getRawPath()).orElse(null);
    if (operation == null) {
      assertThat(response.statusCode()).as(method + " " + uri).isIn(204, 400, 401, 403, 404, 405);
      return;
    }
    String what = method + " " + uri + " " + response.statusCode();
    // In version 3 of the command interface, some errors have the status 200.
    if (response.statusCode() < 300 && !response.body().startsWith("[0,")) {
      checkRequest(what, operation, uri, sent);
    }
    checkResponse(what + " " + response.body(), method, operation, response);
  }

  private Optional<JsonNode> operation(String method, String path) {
    String name = (method.equals("HEAD") ? "GET" : method).toLowerCase(Locale.ROOT);
    String[] wanted = path.split("/", -1);
    if (isMalformed(path)) {
      return Optional.empty();
    }
    return paths
        .propertyStream()
        .filter(entry -> matches(entry.getKey().split("/", -1), wanted))
        .min((a, b) -> Long.compare(parameters(a.getKey()), parameters(b.getKey())))
        .map(entry -> entry.getValue().get(name));
  }

  private static boolean isMalformed(String path) {
    try {
      return Query.decode(path, 0, path.length(), false).isEmpty();
    } catch (HttpProblem _) {
      return true;
    }
  }

  private static long parameters(String path) {
    return path.chars().filter(letter -> letter == '{').count();
  }

  private static boolean matches(String[] segments, String[] wanted) {
    if (segments.length != wanted.length) {
      return false;
    }
    for (int i = 0; i < segments.length; i++) {
      if (!segments[i].startsWith("{") && !segments[i].equals(wanted[i])) {
        return false;
      }
    }
    return true;
  }

  private void checkRequest(String what, JsonNode operation, URI uri, String sent) {
    Query query = Query.parse(uri.getRawQuery());
    Set<String> unknown = new LinkedHashSet<>(query.names());
    for (JsonNode parameter : operation.path("parameters")) {
      String name = parameter.get("name").asString();
      if (parameter.get("in").asString().equals("query") && unknown.remove(name)) {
        JsonNode schema = parameter.get("schema");
        for (String value : query.texts(name)) {
          checkText(what + ", parameter " + name, schema, value);
        }
      }
    }
    boolean inBody = operation.at("/requestBody/content").has("application/x-www-form-urlencoded");
    if (!inBody) {
      assertThat(unknown).as(what + ": parameters that are not described").isEmpty();
    }
    JsonNode form = operation.at("/requestBody/content/multipart~1form-data/schema");
    if (!form.isMissingNode() && sent.startsWith("--")) {
      checkForm(what, form, sent);
      return;
    }
    JsonNode schema = operation.at("/requestBody/content/application~1json/schema");
    JsonNode body = schema.isMissingNode() ? null : json(sent);
    if (body != null) {
      valid(what + ", body " + sent, schema, body);
    }
  }

  /** Checks the fields of a form. Its names, and words out of a list, may be in any case. */
  private void checkForm(String what, JsonNode reference, String sent) {
    String name = reference.path("$ref").asString("").replaceAll(".*/", "");
    JsonNode schema = name.isEmpty() ? reference : schemas.get(name);
    Map<String, String> names = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    schema.get("properties").propertyNames().forEach(each -> names.put(each, each));
    ObjectNode fields = Json.object();
    for (String part : sent.split("(^|\r\n)--[^\r\n]+(\r\n|$)", -1)) {
      Matcher matcher = FIELD.matcher(part);
      if (matcher.find()) {
        String field = matcher.group(1);
        String value = part.substring(part.indexOf("\r\n\r\n") + 4);
        fields.put(names.getOrDefault(field, field), value);
      }
    }
    assertThat(fields).as(what + ": a form without fields").isNotEmpty();
    fields.forEachEntry((field, value) -> {
      JsonNode property = schema.get("properties").get(field);
      assertThat(property).as(what + ": the field " + field).isNotNull();
      String text = value.asString();
      if (!text.isEmpty()) {
        boolean word = property.has("enum");
        String shown = word ? text.toLowerCase(Locale.ROOT) : text;
        checkText(what + ", field " + field, property, shown);
      }
    });
    schema
        .path("required")
        .forEach(each -> assertThat(fields.has(each.asString())).as(what + ": " + each).isTrue());
  }

  /** An object or list; null if a body is something else. */
  private static @Nullable JsonNode json(String body) {
    try {
      return body.startsWith("{") || body.startsWith("[") ? Json.MAPPER.readTree(body) : null;
    } catch (JacksonException _) {
      return null;
    }
  }

  /** A text is valid if it is, read as JSON or as itself; one in a list, if it is valid there. */
  private void checkText(String what, JsonNode schema, String value) {
    JsonNode text = Json.MAPPER.valueToTree(value);
    JsonNode one = schema.path("type").asString("").equals("array") ? schema.get("items") : schema;
    boolean number = one.path("type").asString("").matches("integer|number");
    valid(what, one, number && value.matches("-?[0-9.]+") ? Json.MAPPER.readTree(value) : text);
  }

  private void checkResponse(
      String what, String method, JsonNode operation, HttpResponse<String> response) {
    JsonNode responses = operation.get("responses");
    JsonNode described = responses.get(String.valueOf(response.statusCode()));
    if (described == null) {
      described = responses.get(response.statusCode() / 100 + "XX");
    }
    assertThat(described).as(what + ": a status that is not described").isNotNull();
    JsonNode content = described.path("content");
    String type = response.headers().firstValue("Content-Type").orElse("").replaceAll(";.*", "");
    if (type.isEmpty() || method.equals("HEAD")) {
      return;
    }
    assertThat(content.has(type)).as(what + ": the media type " + type).isTrue();
    if (type.endsWith("json")) {
      JsonNode body = Json.MAPPER.readTree(response.body());
      valid(what, content.get(type).get("schema"), body);
    }
    described
        .path("headers")
        .forEachEntry((name, _) ->
            assertThat(response.headers().firstValue(name)).as(what + ": " + name).isPresent());
  }

  private void valid(String what, JsonNode schema, JsonNode value) {
    Schema checks =
        compiled.computeIfAbsent(
            schema,
            _ -> {
              ObjectNode whole = Json.object();
              ArrayNode all = whole.putArray("allOf");
              all.add(schema);
              return REGISTRY.getSchema(whole.set("$defs", schemas));
            });
    assertThat(checks.validate(value)).as(what).isEmpty();
  }
}
