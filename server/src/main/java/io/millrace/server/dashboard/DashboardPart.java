package io.millrace.server.dashboard;

import io.millrace.http.ApiRoutes;
import io.millrace.http.Caller.Role;
import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.server.Part;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The dashboard: the page at {@code /} and its files under {@code /dashboard}. The files are
 * public; what they show comes from the APIs, with the credentials of the user. All addresses in
 * the page are relative, so it works below a path prefix of a proxy.
 */
public final class DashboardPart implements Part {
  private final DashboardSettings settings;
  private volatile DashboardFiles.@Nullable File page;

  /** The page with these settings. */
  public DashboardPart(DashboardSettings settings) {
    this.settings = settings;
  }

  @Override
  public List<Route> routes() {
    ApiRoutes files =
        ApiRoutes.below("").errors(ErrorForm.PROBLEM_DETAILS).role(Role.ANYONE).limitable();
    files.get("/", this::page);
    String root = "/dashboard/{fingerprint}/";
    String library = root + "lib/{library}/";
    return files
        .get(root + "{file}", request -> file(request, "file"))
        .get(library + "{file}", request -> file(request, "library", "file"))
        .get(library + "{folder}/{file}", request -> file(request, "library", "folder", "file"))
        .get(
            library + "{folder}/{subfolder}/{file}",
            request -> file(request, "library", "folder", "subfolder", "file"))
        .routes();
  }

  private Response page(Request request) {
    DashboardFiles files = DashboardFiles.all();
    DashboardFiles.File made = page;
    if (made == null) {
      made = files.page(settings);
      page = made;
    }
    return response(
        request,
        made,
        Map.of(
            "Cache-Control", "no-cache",
            "Content-Security-Policy", files.contentSecurityPolicy(),
            "Referrer-Policy", "no-referrer",
            "X-Content-Type-Options", "nosniff",
            "X-Frame-Options", "DENY"));
  }

  private static Response file(Request request, String... parameters) {
    DashboardFiles files = DashboardFiles.all();
    List<String> path = Stream.of(parameters).map(request::parameter).toList();
    DashboardFiles.File file = files.find(path);
    if (file == null) {
      throw HttpProblem.notFound("no such path: " + request.path());
    }
    // A page of another version asks for files that may have changed since: they are not kept.
    boolean current = request.parameter("fingerprint").equals(files.fingerprint());
    return response(
        request,
        file,
        Map.of(
            "Cache-Control",
            current ? "public, max-age=31536000, immutable" : "no-cache",
            "X-Content-Type-Options",
            "nosniff"));
  }

  private static Response response(
      Request request, DashboardFiles.File file, Map<String, String> headers) {
    if (!request.header("accept-encoding").orElse("").contains("gzip")) {
      return new Response.Whole(200, file.type, headers, file.bytes);
    }
    Map<String, String> compressed = new HashMap<>(headers);
    compressed.put("Content-Encoding", "gzip");
    compressed.put("Vary", "Accept-Encoding");
    return new Response.Whole(200, file.type, compressed, file.compressed);
  }
}
