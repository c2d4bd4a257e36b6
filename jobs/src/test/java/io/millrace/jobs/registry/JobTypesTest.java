package io.millrace.jobs.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.jobs.JobTypes;
import io.millrace.jobs.JobTypes.JobType;
import io.millrace.jobs.JobsException.InvalidJobException;
import io.millrace.store.testkit.contract.EmbeddedFixture;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobTypesTest {
  private static JobType type(String name, @Nullable String becomes) {
    return new JobType(name, null, becomes);
  }

  @Test
  void circles_are_refused_and_named() {
    assertThatThrownBy(() ->
            JobTypes.of(List.of(type("a", "b"), type("b", "c"), type("c", "d"), type("d", "b"))))
        .isInstanceOf(InvalidJobException.class)
        .hasMessageContaining("b -> c -> d -> b");
    assertThatThrownBy(() -> JobTypes.of(List.of(type("a", "a")))).hasMessageContaining("a -> a");
  }

  @Test
  void unknown_next_types_and_bad_or_repeated_names_are_refused() {
    assertThatThrownBy(() -> JobTypes.of(List.of(type("a", "z"))))
        .hasMessageContaining("unknown type z; known are a");
    assertThatThrownBy(() -> JobTypes.of(List.of(type("a/b", null)))).hasMessageContaining("a/b");
    assertThatThrownBy(() -> JobTypes.of(List.of(type("", null)))).hasMessageContaining("name");
    assertThatThrownBy(() -> JobTypes.of(List.of(type("a", null), type("a", null))))
        .hasMessageContaining("twice");
  }

  @Test
  void a_server_without_types_knows_the_one_without_a_name() {
    assertThat(JobTypes.NONE.find("")).isPresent();
    assertThatThrownBy(() -> JobTypes.NONE.require("a")).hasMessageContaining("no job types");
    assertThat(JobTypes.of(List.of(type("a", null))).find("")).isEmpty();
  }

  @Test
  void a_configuration_that_contradicts_the_stored_types_is_refused_with_the_difference(
      @TempDir Path folder) {
    try (EmbeddedFixture store = new EmbeddedFixture(1)) {
      JobsFixture world = new JobsFixture(store, folder, JobsFixture.CHAIN, Jobs.Options.DEFAULTS);
      JobTypes more =
          JobTypes.of(
              List.of(
                  new JobType("first", "new words", "second"),
                  type("second", null),
                  type("third", null)));
      assertThat(world.another(2, more).types().all()).hasSize(3);
      assertThatThrownBy(() -> world.another(3, JobsFixture.CHAIN))
          .isInstanceOf(InvalidJobException.class)
          .hasMessageContaining("type third is stored and not configured");
      JobTypes other =
          JobTypes.of(List.of(type("first", null), type("second", "third"), type("third", null)));
      assertThatThrownBy(() -> world.another(4, other))
          .hasMessageContaining("first became second and is configured to become nothing")
          .hasMessageContaining("second became nothing and is configured to become third");
      assertThatThrownBy(() -> world.another(5, JobTypes.NONE)).hasMessageContaining("first");
      world.another(6, other.replacingStored());
      world.another(7, other);
    }
  }

  @Test
  void types_come_too_late_for_a_server_that_has_jobs_without(@TempDir Path folder) {
    try (EmbeddedFixture store = new EmbeddedFixture(1)) {
      JobsFixture world = new JobsFixture(store, folder, JobTypes.NONE, Jobs.Options.DEFAULTS);
      world.submit("");
      assertThatThrownBy(() -> world.another(2, JobsFixture.CHAIN))
          .hasMessageContaining("jobs without a type are stored");
      world.another(3, JobsFixture.CHAIN.replacingStored());
    }
  }
}
