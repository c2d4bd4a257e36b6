package io.millrace.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

/** The constants of limits. */
final class ThrottlingTest {
  /** In a loader of its own, as in a process that has used neither class before. */
  @Test
  void no_limits_are_complete_whichever_class_is_used_first() throws Exception {
    URL classes = Throttling.class.getProtectionDomain().getCodeSource().getLocation();
    for (Class<?> first : new Class<?>[] {Throttling.class, Throttling.Limit.class}) {
      try (URLClassLoader loader =
          new URLClassLoader(new URL[] {classes}, ClassLoader.getPlatformClassLoader())) {
        Class.forName(first.getName(), true, loader);
        Object none =
            Class.forName(Throttling.class.getName(), true, loader).getField("NONE").get(null);
        assertThat(none).hasToString(Throttling.NONE.toString()).asString().doesNotContain("null");
      }
    }
  }
}
