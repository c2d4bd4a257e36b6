package io.millrace.server.openapi;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.Response;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves the OpenAPI document as JSON and as YAML. It is built when it is requested for the first
 * time. Thread-safe.
 */
public final class OpenApiRoutes {
  private static final String YAML = "application/yaml";

  private final Supplier<List<Route>> all;
  private final String version;
  private volatile @Nullable Texts texts;

  /**
   * The document of a server.
   *
   * @param all returns all routes of the server; called after it has started
   * @param version the version of the server
   */
  public OpenApiRoutes(Supplier<List<Route>> all, String version) {
    this.all = all;
    this.version = version;
  }

  /** The document in its two forms. */
  private static final class Texts {
    private final byte[] json;
    private final byte[] yaml;

    private Texts(byte[] json, byte[] yaml) {
      this.json = json;
      this.yaml = yaml;
    }

    static Texts of(ObjectNode document) {
      DumpSettings settings =
          DumpSettings.builder().setDefaultFlowStyle(FlowStyle.BLOCK).setSplitLines(false).build();
      String yaml =
          new Dump(settings).dumpToString(Json.MAPPER.convertValue(document, Object.class));
      return new Texts(Json.bytes(document), yaml.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** The routes of the document itself. */
  public List<Route> routes() {
    return ApiRoutes.below("")
        .limitable()
        .errors(ErrorForm.PROBLEM_DETAILS)
        .get("/openapi", request -> wantsYaml(request) ? yaml() : Response.json(texts().json))
        .get("/openapi.yaml", _ -> yaml())
        .routes();
  }

  private static boolean wantsYaml(Request request) {
    String accepted = request.header("Accept").orElse("").toLowerCase(Locale.ROOT);
    return accepted.contains("yaml") && !accepted.contains("json");
  }

  private Response yaml() {
    return new Response.Whole(200, YAML, Map.of(), texts().yaml);
  }

  private Texts texts() {
    Texts built = texts;
    if (built == null) {
      built = Texts.of(OpenApi.of(all.get(), version).json());
      texts = built;
    }
    return built;
  }
}
