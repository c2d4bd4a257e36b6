package io.millrace.server.traces;

import io.millrace.server.ServerException;
import io.millrace.server.config.Configuration.Section;
import io.millrace.server.config.Key;
import io.millrace.server.config.SectionKeys;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The settings of traces.
 *
 * @param endpoint the address of a collector; null if the configuration has none
 * @param ratio how many of the traces that begin here are recorded, from 0 to 1
 * @param serviceName the name of this service in traces
 * @param headersFile a file with headers of the requests to the collector; null for none
 * @param maxSpans how many spans may wait for the collector
 */
public record TracesSettings(
    @Nullable URI endpoint,
    double ratio,
    String serviceName,
    @Nullable Path headersFile,
    int maxSpans) {
  private static final SectionKeys KEYS = new SectionKeys();
  private static final String VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT";
  private static final String PATH = "/v1/traces";
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");
  private static final Pattern VALUE = Pattern.compile("[\\x20-\\x7e]{1,8192}");
  private static final int MAX_HEADERS = 32;

  private static final Key<@Nullable URI> ENDPOINT =
      KEYS.add(
          new Key<@Nullable URI>(
              "endpoint",
              "an address that begins with http:// or https://",
              null,
              "that of `" + VARIABLE + "`, or none",
              "The collector to which traces are sent by OTLP over HTTP, as in"
                  + " `http://127.0.0.1:4318`; without a path, `"
                  + PATH
                  + "` is added. Without a collector there are no traces. See docs/traces.md.",
              text -> text.isEmpty() ? null : address(text)));
  private static final Key<Double> RATIO =
      KEYS.add(
          new Key<>(
              "ratio",
              "a number from 0 to 1",
              1.0,
              "1",
              "How many of the traces that begin in this server are recorded. Work that is"
                  + " submitted with a trace is recorded if that trace is.",
              TracesSettings::ratio));
  private static final Key<String> SERVICE_NAME =
      KEYS.text("service-name", "millrace", "The name of this service in traces.");
  private static final Key<@Nullable Path> HEADERS_FILE =
      KEYS.optionalPath(
          "headers-file",
          "A file with headers that are sent to the collector, for example with a key: one"
              + " `Name: value` in each line.");
  private static final Key<Long> MAX_SPANS =
      KEYS.number(
          "max-spans",
          512,
          1_000_000,
          20_000,
          "How many spans may wait for the collector. Beyond it new ones are dropped, and"
              + " counted.");

  /** The section {@code traces}. */
  public static final Section<TracesSettings> SECTION =
      KEYS.section(
          "traces",
          values ->
              new TracesSettings(
                  values.get(ENDPOINT),
                  values.get(RATIO),
                  values.get(SERVICE_NAME),
                  values.get(HEADERS_FILE),
                  Math.toIntExact(values.get(MAX_SPANS))));

  private static URI address(String text) {
    URI uri = URI.create(text.strip());
    boolean http = "http".equals(uri.getScheme()) || "https".equals(uri.getScheme());
    if (!http || uri.getHost() == null || uri.getUserInfo() != null || uri.getFragment() != null) {
      throw new IllegalArgumentException(text);
    }
    String path = uri.getRawPath();
    return path == null || path.isEmpty() || path.equals("/") ? uri.resolve(PATH) : uri;
  }

  private static double ratio(String text) {
    double ratio = Double.parseDouble(text);
    if (ratio >= 0 && ratio <= 1) {
      return ratio;
    }
    throw new IllegalArgumentException(text);
  }

  /**
   * The address of the collector; null for no traces.
   *
   * @param environment gives the value of an environment variable, which may be null
   * @throws ServerException if the variable names no address
   */
  @Nullable URI collector(UnaryOperator<@Nullable String> environment) {
    String text = environment.apply(VARIABLE);
    if (endpoint != null || text == null || text.isBlank()) {
      return endpoint;
    }
    try {
      URI base = address(text);
      String path = base.getRawPath();
      return path.endsWith(PATH) ? base : URI.create(text.strip().replaceAll("/+$", "") + PATH);
    } catch (IllegalArgumentException e) {
      throw new ServerException(
          VARIABLE + " must be an address that begins with http:// or https://, not " + text, e);
    }
  }

  /**
   * The headers of requests to the collector.
   *
   * @throws ServerException if the file cannot be read or has another form; the message has none of
   *     its values
   */
  Map<String, String> headers() {
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    if (headersFile == null) {
      return headers;
    }
    int number = 0;
    try {
      for (String line : Files.readAllLines(headersFile)) {
        number++;
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        int colon = line.indexOf(':');
        String name = colon < 0 ? "" : line.substring(0, colon).strip();
        String value = line.substring(colon + 1).strip();
        if (!NAME.matcher(name).matches()
            || !VALUE.matcher(value).matches()
            || headers.put(name, value) != null
            || headers.size() > MAX_HEADERS) {
          throw new ServerException(
              "line %d of traces.headers-file %s is no new header of the form Name: value, or one of more than %d"
                  .formatted(number, headersFile, MAX_HEADERS));
        }
      }
    } catch (CharacterCodingException e) {
      throw new ServerException("traces.headers-file " + headersFile + " is not UTF-8", e);
    } catch (IOException e) {
      throw new ServerException("traces.headers-file cannot be read: " + e, e);
    }
    return headers;
  }
}
