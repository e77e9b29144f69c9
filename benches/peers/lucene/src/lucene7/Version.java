import java.io.IOException;
import org.apache.lucene.codecs.bloom.FuzzySet;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.util.FixedBitSet;

/** What Lucene 7 and 8 do in their own way: no bulk reads, no skip index. */
final class Version {
  static boolean filtered(String column) {
    return column.equals("ts") || column.startsWith("size") || column.equals("uni24");
  }

  static Field skipIndexed(String name) {
    return new NumericDocValuesField(name, 0L);
  }

  static boolean hasBulk() {
    return false;
  }

  static void longValues(NumericDocValues values, int len, int[] docs, long[] out) {
    throw new UnsupportedOperationException();
  }

  static void ranges(
      Session session, String work, LeafReader leaf, String field, long low, long high, FixedBitSet bits) {}

  static void counts(Session session, String work, LeafReader leaf, String field, long low, long high) {}

  /** The sum of a document's ords, each with plus added. */
  static long ords(SortedSetDocValues values, long plus) throws IOException {
    long total = 0;
    for (long ord = values.nextOrd(); ord != SortedSetDocValues.NO_MORE_ORDS; ord = values.nextOrd()) {
      total += ord + plus;
    }
    return total;
  }

  static FuzzySet filter(int ids, float passing) {
    throw new UnsupportedOperationException();
  }

  private Version() {}
}
