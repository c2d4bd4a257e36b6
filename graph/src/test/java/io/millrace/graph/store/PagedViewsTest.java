package io.millrace.graph.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.graph.GraphException.StaleViewException;
import io.millrace.graph.GraphRegistry.Page;
import io.millrace.graph.store.DataReader.PagedViews;
import io.millrace.graph.store.ValueStore.RandomNames;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PagedViewsTest {
  private long millis = 1_000_000;
  private final PagedViews<String> views =
      new PagedViews<>(() -> Instant.ofEpochMilli(millis), new RandomNames(new Random(1)));

  private static Page.Wanted second(Page<String> page) {
    return new Page.Wanted(page.view(), "1000");
  }

  @Test
  void a_list_is_kept_for_ten_minutes() {
    Page<String> page = views.first(Collections.nCopies(1_001, "x"), 1);
    millis += Duration.ofMinutes(10).toMillis();
    assertThat(views.next(second(page)).items()).hasSize(1);
    millis++;
    assertThatThrownBy(() -> views.next(second(page))).isInstanceOf(StaleViewException.class);
  }

  @Test
  void of_many_large_lists_the_youngest_are_kept() {
    List<String> large = Collections.nCopies(600_000, "x");
    Page<String> first = views.first(large, 1);
    Page<String> last = views.first(large, 1);
    assertThatThrownBy(() -> views.next(second(first))).isInstanceOf(StaleViewException.class);
    assertThat(views.next(second(last)).next()).isEqualTo("2000");
  }

  @Test
  void a_list_of_one_page_has_no_next_one() {
    Page<String> page = views.first(Collections.nCopies(1_000, "x"), 1);
    assertThat(page.next()).isNull();
    assertThat(page.items()).hasSize(1_000);
  }
}
