package io.millrace.cli.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.event.KeyValuePair;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes each log event as an object of JSON in a line of its own: {@code time}, {@code level},
 * {@code logger}, {@code thread}, {@code message}, and {@code exception} with its stack trace. The
 * ids of the work that a line is about are fields of their own: what a message names as {@code job
 * ID}, {@code task ID} and the like, and the values of the logging context.
 */
public final class JsonLogEncoder extends EncoderBase<ILoggingEvent> {
  private static final JsonMapper MAPPER = JsonMapper.shared();
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSXXX");

  /** A placeholder of a message, with the word before it if that names a kind of work. */
  private static final Pattern PLACEHOLDER =
      Pattern.compile("(?:\\b(task|job|queue|node|worker|schedule|blob) )?\\{}");

  /** For the configuration of logback. */
  public JsonLogEncoder() {}

  @Override
  public byte[] headerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] footerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    ObjectNode line = MAPPER.createObjectNode();
    Instant time = Instant.ofEpochMilli(event.getTimeStamp());
    line.put("time", TIME.format(time.atZone(ZoneId.systemDefault())));
    line.put("level", event.getLevel().toString());
    line.put("logger", event.getLoggerName());
    line.put("thread", event.getThreadName());
    line.put("message", event.getFormattedMessage());
    ids(event)
        .forEach((name, id) -> {
          if (!line.has(name)) {
            line.put(name, id);
          }
        });
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown != null) {
      line.put("exception", ThrowableProxyUtil.asString(thrown));
    }
    return (MAPPER.writeValueAsString(line) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /** The ids by their names; those of the logging context take precedence. */
  private static Map<String, String> ids(ILoggingEvent event) {
    Map<String, String> ids = new LinkedHashMap<>(event.getMDCPropertyMap());
    if (event.getKeyValuePairs() != null) {
      for (KeyValuePair pair : event.getKeyValuePairs()) {
        ids.putIfAbsent(pair.key, String.valueOf(pair.value));
      }
    }
    Object[] arguments = event.getArgumentArray();
    Matcher placeholders = PLACEHOLDER.matcher(String.valueOf(event.getMessage()));
    for (int i = 0; arguments != null && i < arguments.length && placeholders.find(); i++) {
      if (placeholders.group(1) != null) {
        ids.putIfAbsent(placeholders.group(1), String.valueOf(arguments[i]));
      }
    }
    return ids;
  }
}
