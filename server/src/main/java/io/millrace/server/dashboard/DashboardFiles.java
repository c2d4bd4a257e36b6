package io.millrace.server.dashboard;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The files of the dashboard: a page, ES modules as they are written, and libraries from WebJars.
 * The addresses of all of them contain a fingerprint, so browsers keep them until the server is
 * upgraded. They are read from the class path when they are first asked for. Thread-safe.
 */
final class DashboardFiles {
  /** The dashboard's own files beside the page. */
  static final List<String> OWN =
      List.of(
          "app.js",
          "archive.js",
          "bulk.js",
          "chart.js",
          "format.js",
          "graph.js",
          "http.js",
          "icon.svg",
          "jobs.js",
          "layout.js",
          "limits.js",
          "machines.js",
          "output.js",
          "overview.js",
          "queues.js",
          "schedules.js",
          "search.js",
          "store.js",
          "style.css",
          "system.js",
          "view.js");

  private static final List<String> LIBRARIES =
      List.of(
          "chart.js",
          "cytoscape",
          "kurkle__color",
          "lit",
          "lit-element",
          "lit-html",
          "lit__reactive-element",
          "picocss__pico");

  /** What modules import, and where it is; a slash at the end stands for all files below. */
  private static final Map<String, String> IMPORTS =
      new TreeMap<>(
          Map.of(
              "lit", "lit/index.js",
              "lit/", "lit/",
              "lit-html", "lit-html/lit-html.js",
              "lit-html/", "lit-html/",
              "lit-element/", "lit-element/",
              "@lit/reactive-element", "lit__reactive-element/reactive-element.js",
              "chart.js", "chart.js/dist/chart.js",
              "@kurkle/color", "kurkle__color/dist/color.esm.js",
              "cytoscape", "cytoscape/dist/cytoscape.esm.min.mjs"));

  private static final Map<String, String> TYPES =
      Map.of(
          "js", "text/javascript; charset=utf-8",
          "mjs", "text/javascript; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "svg", "image/svg+xml");

  private static final Pattern NAME = Pattern.compile("[\\w.-]*\\w\\.(js|mjs|css|svg)");
  private static final Pattern FOLDER = Pattern.compile("[\\w-][\\w.-]*");

  private final SortedMap<String, String> versions = new TreeMap<>();
  private final Map<List<String>, File> files = new ConcurrentHashMap<>();
  private final String fingerprint;
  private final String html;
  private final String contentSecurityPolicy;

  private static final class Holder {
    static final DashboardFiles FILES = new DashboardFiles();
  }

  /** Those of the class path; the first call reads them. */
  static DashboardFiles all() {
    return Holder.FILES;
  }

  /** A file as it is sent. */
  static final class File {
    /** Its content type. */
    final String type;

    /** Its bytes, not to be changed. */
    final byte[] bytes;

    /** The same bytes, compressed by gzip. */
    final byte[] compressed;

    private File(String type, byte[] bytes) {
      this.type = type;
      this.bytes = bytes;
      ByteArrayOutputStream target = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(target)) {
        gzip.write(bytes);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      this.compressed = target.toByteArray();
    }
  }

  private DashboardFiles() {
    for (String library : LIBRARIES) {
      versions.put(library, version(library));
    }
    MessageDigest digest = sha256();
    digest.update(versions.toString().getBytes(StandardCharsets.UTF_8));
    for (String name : OWN) {
      digest.update(required(name));
    }
    this.fingerprint = HexFormat.of().formatHex(digest.digest(), 0, 8);
    String root = "dashboard/" + fingerprint;
    String imports =
        IMPORTS.entrySet().stream()
            .map(entry ->
                "\"" + entry.getKey() + "\":\"./" + root + "/lib/" + entry.getValue() + "\"")
            .collect(Collectors.joining(",", "{\"imports\":{", "}}"));
    this.html =
        new String(required("index.html"), StandardCharsets.UTF_8)
            .replace("@ASSETS@", root)
            .replace("@IMPORTS@", imports);
    // For a browser, the import map is an inline script: its hash allows it, and no other.
    byte[] hash = sha256().digest(imports.getBytes(StandardCharsets.UTF_8));
    this.contentSecurityPolicy =
        "default-src 'none'; script-src 'self' 'sha256-"
            + Base64.getEncoder().encodeToString(hash)
            + "'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none';"
            + " form-action 'self'; frame-ancestors 'none'";
  }

  /** The page of a server with these settings. */
  File page(DashboardSettings settings) {
    String hidden =
        settings
            .hiddenFields()
            .replace("&", "&amp;")
            .replace("\"", "&quot;")
            .replace("<", "&lt;")
            .replace(">", "&gt;");
    return new File(
        "text/html; charset=utf-8",
        html.replace("@HIDDEN@", hidden).getBytes(StandardCharsets.UTF_8));
  }

  /** The Content-Security-Policy of the page: its own files, and requests to its own server. */
  String contentSecurityPolicy() {
    return contentSecurityPolicy;
  }

  /** The fingerprint of all files, in their addresses. */
  String fingerprint() {
    return fingerprint;
  }

  /**
   * Finds a file.
   *
   * @param path the name of an own file, or a library, folders in it, and the name of a file
   * @return the file, or null if there is none
   */
  @Nullable File find(List<String> path) {
    File known = files.get(path);
    if (known != null) {
      return known;
    }
    String name = path.getLast();
    byte[] bytes = NAME.matcher(name).matches() ? read(path) : null;
    if (bytes == null) {
      return null;
    }
    File found =
        new File(
            Objects.requireNonNull(TYPES.get(name.substring(name.lastIndexOf('.') + 1))), bytes);
    files.put(path, found);
    return found;
  }

  private byte @Nullable [] read(List<String> path) {
    if (path.size() == 1) {
      return OWN.contains(path.getFirst()) ? required(path.getFirst()) : null;
    }
    String version = versions.get(path.getFirst());
    List<String> folders = path.subList(1, path.size() - 1);
    if (version == null || !folders.stream().allMatch(name -> FOLDER.matcher(name).matches())) {
      return null;
    }
    return resource(
        "/META-INF/resources/webjars/%s/%s/%s"
            .formatted(path.getFirst(), version, String.join("/", path.subList(1, path.size()))));
  }

  private static byte[] required(String name) {
    return Objects.requireNonNull(resource(name), name);
  }

  private static byte @Nullable [] resource(String name) {
    try (InputStream source = DashboardFiles.class.getResourceAsStream(name)) {
      return source == null ? null : source.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String version(String library) {
    String path = "/META-INF/maven/org.webjars.npm/" + library + "/pom.properties";
    Properties properties = new Properties();
    try (InputStream source = DashboardFiles.class.getResourceAsStream(path)) {
      properties.load(Objects.requireNonNull(source, path));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return properties.getProperty("version");
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
