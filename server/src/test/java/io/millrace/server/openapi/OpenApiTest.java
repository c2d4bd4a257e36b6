package io.millrace.server.openapi;

import static org.assertj.core.api.Assertions.assertThat;

import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import io.millrace.http.Route;
import io.millrace.http.Route.Body;
import io.millrace.http.json.Json;
import io.millrace.server.TestServer;
import io.millrace.work.policy.Policy;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The OpenAPI document says of every route what the code says, and is valid. */
final class OpenApiTest {
  private static final Path DOCUMENT = Path.of("../docs/openapi.json");

  @TempDir private static Path folder;
  private static TestServer server;

  @BeforeAll
  static void start() {
    server = TestServer.in(folder);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void every_route_is_in_the_document_and_nothing_else() throws Exception {
    JsonNode paths = Json.MAPPER.readTree(server.get("/openapi").body()).get("paths");
    List<String> described =
        paths
            .propertyStream()
            .flatMap(path ->
                path.getValue()
                    .propertyStream()
                    .map(method -> method.getKey().toUpperCase(Locale.ROOT) + " " + path.getKey()))
            .toList();
    assertThat(described)
        .containsExactlyInAnyOrderElementsOf(
            server.routes().stream().map(route -> route.method() + " " + route.path()).toList());
  }

  @Test
  void nothing_is_missing_in_the_descriptions_of_routes() {
    assertThat(OpenApi.of(server.routes(), "").gaps())
        .as("in src/main/resources/io/millrace/server/openapi")
        .isEmpty();
  }

  @Test
  void bodies_are_described_field_by_field() throws Exception {
    List<Route> reading =
        server.routes().stream()
            .filter(route -> Set.of(Body.JSON, Body.FIELDS, Body.FORM).contains(route.body()))
            .toList();
    assertThat(reading)
        .filteredOn(route -> !route.parameters().fields().isEmpty())
        .hasSizeGreaterThanOrEqualTo(40);
    JsonNode document = Json.MAPPER.readTree(server.get("/openapi").body());
    for (Route route : reading) {
      String method = route.method().name().toLowerCase(Locale.ROOT);
      JsonNode operation = document.get("paths").get(route.path()).get(method);
      JsonNode schema = operation.get("requestBody").get("content").iterator().next().get("schema");
      JsonNode body = named(schema, document);
      JsonNode each = body.has("items") ? named(body.get("items"), document) : body;
      assertThat(each.path("properties").propertyNames())
          .as("%s %s", method, route.path())
          .containsExactlyInAnyOrderElementsOf(route.parameters().fields());
    }
  }

  private static JsonNode named(JsonNode schema, JsonNode document) {
    JsonNode reference = schema.get("$ref");
    return reference == null ? schema : document.at(reference.asString().substring(1));
  }

  /** What is declared is what is read: each field is known, and no other one is. */
  @Test
  void each_field_of_a_transaction_and_of_a_claim_is_known_and_others_are_refused()
      throws Exception {
    for (Route route : server.routes()) {
      if (route.body() != Body.JSON || !route.path().startsWith("/store/")) {
        continue;
      }
      for (String field : route.parameters().fields()) {
        HttpResponse<String> wrong = server.post(route.path(), "{\"" + field + "\": {\"x\": 1}}");
        assertThat(wrong.statusCode()).isEqualTo(400);
        assertThat(wrong.body()).as(field).contains(field).doesNotContain("unknown");
      }
      assertThat(server.post(route.path(), "{\"colour\": 1}").body())
          .as(route.path())
          .contains("colour")
          .contains("unknown");
    }
  }

  /** What the handlers read is what they declare: each field is taken, and no other one. */
  @Test
  void each_field_of_a_form_is_read_and_others_are_refused() throws Exception {
    Route form =
        server.routes().stream()
            .filter(route -> route.body() == Body.FORM)
            .findFirst()
            .orElseThrow();
    for (String field : form.parameters().fields()) {
      HttpResponse<String> twice = server.submit(form.path(), field, "", field, "");
      assertThat(twice.statusCode()).as(field).isEqualTo(400);
      assertThat(twice.body()).as(field).doesNotContain("unknown");
    }
    assertThat(server.submit(form.path(), "Colour", "red").body())
        .contains("unknown field colour")
        .contains(form.parameters().fields());
  }

  @Test
  void a_public_validator_accepts_the_document() throws Exception {
    for (String path : List.of("/openapi", "/openapi.yaml")) {
      SwaggerParseResult result =
          new OpenAPIV3Parser().readContents(server.get(path).body(), null, null);
      assertThat(result.getMessages()).as(path).isEmpty();
      assertThat(result.getOpenAPI().getOpenapi()).isEqualTo("3.1.0");
      assertThat(result.getOpenAPI().getPaths())
          .hasSameSizeAs(server.routes().stream().map(Route::path).collect(Collectors.toSet()));
    }
  }

  @Test
  void all_schemas_are_valid_by_the_metaschema_of_json_schema() throws Exception {
    JsonNode document = Json.MAPPER.readTree(server.get("/openapi").body());
    var metaschema =
        SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
            .getSchema(SchemaLocation.of("https://json-schema.org/draft/2020-12/schema"));
    document
        .findValues("schema")
        .forEach(schema -> assertThat(metaschema.validate(schema)).as(schema.toString()).isEmpty());
    document
        .at("/components/schemas")
        .forEachEntry((name, schema) -> assertThat(metaschema.validate(schema)).as(name).isEmpty());
  }

  @Test
  void all_settings_of_queues_and_jobs_are_described() throws Exception {
    JsonNode schemas =
        Json.MAPPER.readTree(server.get("/openapi").body()).at("/components/schemas");
    assertThat(schemas.at("/QueueSettings/properties").propertyNames())
        .containsExactlyInAnyOrderElementsOf(Policy.Field.keysOfQueues());
    assertThat(schemas.at("/QueueChange/properties").propertyNames())
        .containsAll(Policy.Field.keysOfQueues());
    assertThat(schemas.at("/JobSettings/properties").propertyNames())
        .containsExactlyInAnyOrderElementsOf(
            Stream.concat(
                    Arrays.stream(Policy.Field.values())
                        .filter(Policy.Field::isOfJobs)
                        .map(Policy.Field::key),
                    Stream.of("limit_key", "priority_level"))
                .toList());
  }

  @Test
  void names_of_operations_are_unique() throws Exception {
    assertThat(
            Json.MAPPER
                .readTree(server.get("/openapi").body())
                .get("paths")
                .findValuesAsString("operationId"))
        .hasSize(server.routes().size())
        .doesNotHaveDuplicates();
  }

  @Test
  void the_document_is_served_as_json_and_as_yaml() throws Exception {
    HttpResponse<String> json = server.get("/openapi");
    HttpResponse<String> yaml = server.get("/openapi", "Accept", "application/yaml");
    assertThat(json.headers().firstValue("Content-Type")).hasValue("application/json");
    assertThat(yaml.headers().firstValue("Content-Type")).hasValue("application/yaml");
    assertThat(yaml.body()).startsWith("openapi: ").isEqualTo(server.get("/openapi.yaml").body());
    assertThat(server.get("/openapi", "Accept", "application/json, application/yaml").body())
        .isEqualTo(json.body());
  }

  @Test
  void the_document_of_the_documentation_is_that_of_the_code() throws IOException {
    String text =
        Json.MAPPER
                .writerWithDefaultPrettyPrinter()
                .writeValueAsString(OpenApi.of(server.routes(), "latest").json())
            + "\n";
    if (Boolean.getBoolean("millrace.write.docs")) {
      Files.writeString(DOCUMENT, text);
    }
    assertThat(Files.readString(DOCUMENT))
        .as("docs/openapi.json; run this test with -Dmillrace.write.docs=true to write it")
        .isEqualTo(text);
  }
}
