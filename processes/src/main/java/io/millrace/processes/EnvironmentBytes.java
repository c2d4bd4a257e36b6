package io.millrace.processes;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The environment that this process was given, byte for byte: in texts, what its locale has no
 * characters for would be lost.
 */
final class EnvironmentBytes {
  private static final Path OWN = Path.of("/proc/self/environ");

  private final Charset charset;
  private final Map<String, String> values = new HashMap<>();
  private final Map<String, byte[]> whole = new HashMap<>();

  private EnvironmentBytes(byte[] all, Charset charset) {
    this.charset = charset;
    for (int from = 0, to; from < all.length; from = to + 1) {
      to = indexOf(all, (byte) 0, from);
      // As the JDK takes it: a name is not empty, and may begin with a =.
      int equals = indexOf(all, (byte) '=', from + 1);
      if (equals < to) {
        String name = new String(all, from, equals - from, charset);
        String value = new String(all, equals + 1, to - equals - 1, charset);
        if (values.putIfAbsent(name, value) == null) {
          whole.put(name, Arrays.copyOfRange(all, from, to));
        }
      }
    }
  }

  /** That of this process. */
  static EnvironmentBytes own() throws IOException {
    return of(Files.readAllBytes(OWN), StartRequest.CHARSET);
  }

  /** One of which each variable ends with a zero. */
  static EnvironmentBytes of(byte[] all, Charset charset) {
    return new EnvironmentBytes(all, charset);
  }

  private static int indexOf(byte[] all, byte wanted, int from) {
    int at = from;
    while (at < all.length && all[at] != wanted) {
      at++;
    }
    return at;
  }

  /** These variables as {@code NAME=VALUE}; those that were given so keep their bytes. */
  List<byte[]> of(Map<String, String> wanted) {
    List<byte[]> all = new ArrayList<>(wanted.size());
    for (Map.Entry<String, String> variable : wanted.entrySet()) {
      String name = variable.getKey();
      byte[] known = variable.getValue().equals(values.get(name)) ? whole.get(name) : null;
      all.add(known != null ? known : (name + "=" + variable.getValue()).getBytes(charset));
    }
    return all;
  }
}
